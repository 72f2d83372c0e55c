#include "worker/agent/isolates/isolate_run.h"

#include <signal.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <utility>
#include <variant>
#include <vector>

#include "common/logging.h"
#include "common/wire/codec.h"
#include "worker/agent/isolates/isolate_keeper.h"
#include "worker/engine/engine.h"

namespace skerry::agent {
namespace {

// Per wake-up and run, so that a flooding isolate does not keep its neighbours waiting: the smallest messages
// in this much take some 2 ms to read.
constexpr std::size_t kReadBudget = std::size_t{64} * 1024;
// At the deadline, what had been written before it still counts: more than a socket buffer holds by default.
constexpr std::size_t kLastReadBudget = std::size_t{1024} * 1024;
// Over the job's own budget: what the engine says that V8 and libc need for themselves.
constexpr Bytes kDataMargin = Bytes::MiB(engine::kDataMarginMb);
// An idle isolate takes its job at once; one that does not is no isolate.
constexpr Millis kHandOverTime{10'000};
// From its final to its exit, which is an _exit and the kernel's freeing of its memory.
constexpr Millis kExitGrace{100};
// Between closing its socket and dying: a dying process closes it last.
constexpr Millis kEofGrace{1'000};

// Of 53 bits, so that a receipt can name it and a job ask for it. Drawn 32 at a time: a system call each
// would cost more than all the rest.
std::uint64_t RandomSeed() {
  static std::array<std::uint64_t, 32> drawn;  // 256 bytes: the kernel gives these whole or not at all
  static std::size_t left = 0;
  if (left == 0) {
    // It fails only before the kernel's pool is initialised, which it is long before a worker starts.
    while (::getrandom(drawn.data(), sizeof drawn, 0) != sizeof drawn) {
    }
    left = drawn.size();
  }
  return drawn[--left] & kMaxSeed;
}

}  // namespace

IsolateRun::IsolateRun(EventLoop& loop, Isolate isolate, const JobPlan& plan, std::uint32_t attempt,
                       OomKills& oom_kills, RunListener& listener)
    : loop_(loop),
      plan_(plan),
      attempt_(attempt),
      seed_(plan.dispatch.job.seed ? *plan.dispatch.job.seed : RandomSeed()),
      oom_kills_(oom_kills),
      listener_(listener),
      isolate_(std::move(isolate)),
      port_(isolate_.socket(), MaxFrameBytes(plan.limits, plan.dispatch.job.encoding)),
      verdict_(plan.limits, attempt, plan.dispatch.job.encoding),
      gate_(plan.limits, plan.dispatch.job.encoding),
      watch_(plan.limits),
      reusable_(ReuseKey(plan).has_value()),
      used_(isolate_.past().jobs > 0) {}

void IsolateRun::Start() {
  socket_watch_ = loop_.OnReadable(isolate_.socket(), [this] { OnSocketReadable(); });
  exit_watch_ = loop_.OnReadable(isolate_.pidfd(), [this] { TryEnd(); });
  timer_ = loop_.After(kHandOverTime, [this] { Stop(Cause::kHandOver, "its process did not take it"); });
  oom_kills_.Note(loop_.Now());
  if (auto status = SetLimits(); !status) return Stop(Cause::kHandOver, status.error().message);
  SendJob();
}

Status IsolateRun::SetLimits() {
  if (isolate_.pid() <= 0) return Fail(ErrorKind::kUnavailable, "its process had died");
  auto memory = ReadMemory(isolate_.pid());
  if (!memory) return Fail(memory.error());
  auto cpu = ReadCpuTime(isolate_.pid());
  if (!cpu) return Fail(cpu.error());
  baseline_ = *memory;
  if (const auto& before = isolate_.descent().before_program) {
    // As in a run of the program from its beginning: what its evaluation made counts. Pages of files are each
    // process's own to touch.
    baseline_.resident = memory->resident - memory->anonymous + before->anonymous;
    baseline_.anonymous = before->anonymous;
    baseline_.data = before->data;
  }
  cpu_baseline_ = *cpu;
  const Bytes allowance = Bytes::MiB(plan_.limits.memory_mb()) + kDataMargin;
  if (!reusable_) return LimitData(isolate_.pid(), baseline_.data + allowance);
  if (!used_) {
    isolate_.past().first = *memory;
  } else if (auto peak = ReadPeakResident(isolate_.pid())) {
    earlier_peak_ = *peak;
  }
  // Its next jobs begin with what earlier ones have left, within a bound, and have no less than they had.
  return LimitData(isolate_.pid(), memory->data + allowance,
                   isolate_.past().first.data + allowance + IsolateKeeper::kMaxLeftovers);
}

void IsolateRun::LogStep(LogText step) const {
  const JobSpec& job = plan_.dispatch.job;
  log::Debug(step, {{"job", job.id.str()},
                    {"tenant", job.tenant.str()},
                    {"user", job.user.str()},
                    {"lease", plan_.dispatch.lease.value()},
                    {"attempt", attempt_},
                    {"pid", isolate_.pid()}});
}

void IsolateRun::SendJob() {
  wire::Dispatch dispatch = plan_.dispatch;
  dispatch.attempt = attempt_;
  dispatch.job.seed = seed_;
  if (!reusable_) dispatch.job.reuse = Reuse::kNone;  // it is to leave behind its final
  // These three lines are how a test knows what has run, whoever was killed in between: the first is written
  // before a byte of the job can reach its program.
  LogStep("job is handed over");
  port_.Send(dispatch, {plan_.code, plan_.input});
  FlushOut();
}

void IsolateRun::FlushOut() {
  switch (port_.Flush()) {
    case IsolatePort::WriteEnd::kFlushed:
      Apply(RunEvent::kJobSent);
      break;
    case IsolatePort::WriteEnd::kBlocked:
      if (socket_watch_) socket_watch_.OnceWritable([this] { FlushOut(); });
      break;
    case IsolatePort::WriteEnd::kPeerGone:
      // Running, its exit or its closed socket tells more than this.
      if (state_ == RunState::kSending) Stop(Cause::kHandOver, "its process closed its socket");
      break;
  }
}

void IsolateRun::Apply(RunEvent event) {
  const RunTransition transition = agent::OnEvent(state_, event);
  state_ = transition.next;
  switch (transition.action) {
    case RunAction::kNothing:
      break;
    case RunAction::kStartClocks:
      StartClocks();
      break;
    case RunAction::kAwaitExit:
      AwaitExit();
      break;
    case RunAction::kKillProcess:
      KillProcess();
      break;
    case RunAction::kReport:
      listener_.OnRunEnded();  // may destroy this
      break;
  }
}

void IsolateRun::StartClocks() {
  sent_at_ = loop_.Now();
  LogStep("job is started");
  verdict_.JobSent();
  watch_.Start(sent_at_);
  timer_ = loop_.deadlines().At(watch_.NextCheck(), [this] { CheckLimits(); });
}

void IsolateRun::AwaitExit() {
  ended_at_ = loop_.Now();
  socket_watch_.Reset();
  eof_timer_.Cancel();
  if (reusable_) {
    timer_ = loop_.After(Millis(0),
                         [this] { LetGoOrKill(); });  // nobody in this call expects to be gone behind it
  } else {
    timer_ = loop_.After(kExitGrace, [this] { Apply(RunEvent::kGraceOver); });
  }
}

void IsolateRun::LetGoOrKill() {
  if (TryEnd()) return;
  if (!MayRunAnother()) return Apply(RunEvent::kGraceOver);
  exit_watch_.Reset();
  ++isolate_.past().jobs;
  Apply(RunEvent::kLetGo);
}

// Its memory is looked at once it has tidied up. A step back in priority cannot be undone.
bool IsolateRun::MayRunAnother() {
  const bool good = verdict_.LeavesIsolateGood() && !watch_.lowered_priority() && port_.AllWritten() &&
                    isolate_.past().jobs + 1 < IsolateKeeper::kMaxJobs;
  if (!good) return false;
  const auto cpu = ReadCpuTime(isolate_.pid());
  const auto memory = ReadMemory(isolate_.pid());
  const auto peak = ReadPeakResident(isolate_.pid());
  if (!cpu || !memory || !peak) return false;
  cpu_at_release_ = *cpu;
  // Exact where it passed what earlier jobs had reached; else the most that was seen.
  growth_at_release_ = *peak > earlier_peak_ ? *peak - baseline_.resident
                                             : std::max(seen_peak_, memory->resident - baseline_.resident);
  return true;
}

Isolate IsolateRun::TakeIsolate() {
  return std::move(isolate_);
}

void IsolateRun::KillProcess() {
  timer_.Cancel();
  eof_timer_.Cancel();
  if (distrusted()) socket_watch_.Reset();
  if (ended_at_ == TimePoint{}) ended_at_ = loop_.Now();
  isolate_.Kill();
}

void IsolateRun::Answer(std::uint32_t call, wire::AnswerKind kind, std::string payload) {
  if (state_ != RunState::kRunning) return;
  CheckAnswer(kind, payload, plan_.dispatch.job.encoding);
  const auto delivered = gate_.OnAnswer(call, kind, payload.size());
  if (!delivered) return;
  LogStep("call is answered");
  if (*delivered == wire::AnswerKind::kRefused) payload.clear();
  wire::Answer answer;
  answer.call = call;
  answer.kind = *delivered;
  port_.SendOwned(answer, std::move(payload));
  FlushOut();
}

void IsolateRun::Stop(Cause cause, std::string why) {
  if (verdict_.Record(cause, std::move(why))) Apply(RunEvent::kKill);
}

void IsolateRun::CheckLimits() {
  const LimitWatch::Readings readings = TakeReadings();
  seen_peak_ = std::max(seen_peak_, readings.memory_growth.value_or(Bytes()));
  if (const auto cause = watch_.Check(loop_.Now(), readings)) {
    if (!HadEnded()) Stop(*cause);
    return;
  }
  if (watch_.ShouldLowerPriority()) LowerPriority(isolate_.pid());
  timer_ = loop_.deadlines().At(watch_.NextCheck(), [this] { CheckLimits(); });
}

// What it had written stands, and how it had died, even where the loop comes late to see it.
bool IsolateRun::HadEnded() {
  port_.Read(kLastReadBudget);
  HandleFrames();
  return verdict_.decided() || TryEnd();
}

LimitWatch::Readings IsolateRun::TakeReadings() const {
  LimitWatch::Readings readings;
  if (auto cpu = ReadCpuTime(isolate_.pid())) readings.cpu = *cpu - cpu_baseline_;
  readings.memory_growth = ReadGrowth(isolate_.pid(), baseline_, Bytes::MiB(plan_.limits.memory_mb()));
  return readings;
}

void IsolateRun::OnSocketReadable() {
  const auto end = port_.Read(kReadBudget);
  HandleFrames();
  if (end == IsolatePort::ReadEnd::kEof) OnPeerClosed();
}

void IsolateRun::HandleFrames() {
  while (!verdict_.has_final() && !distrusted()) {
    auto frame = port_.Next();
    if (!frame) return Stop(Cause::kProtocolBroken, frame.error().message);
    if (!*frame) return;
    HandleFrame(std::move(**frame));
  }
}

void IsolateRun::HandleFrame(wire::Frame frame) {
  if (state_ == RunState::kSending) return Stop(Cause::kHandOver, "its process spoke before it had the job");
  auto header = wire::Decode(frame.header);
  if (!header) return Stop(Cause::kProtocolBroken, header.error().message);
  if (auto* event = std::get_if<wire::Event>(&*header)) return HandleEvent(*event, std::move(frame.payloads));
  if (auto* call = std::get_if<wire::Call>(&*header)) return HandleCall(*call, std::move(frame.payloads));
  if (auto* final = std::get_if<wire::Final>(&*header)) return HandleFinal(*final, std::move(frame.payloads));
  if (auto* dropped = std::get_if<wire::Dropped>(&*header); dropped != nullptr && frame.payloads.empty()) {
    return gate_.OnDropped(dropped->events);
  }
  if (auto* tripped = std::get_if<wire::Tripped>(&*header); tripped != nullptr && frame.payloads.empty()) {
    const auto status = gate_.OnTripped(tripped->limit);
    if (!status) Stop(Cause::kProtocolBroken, status.error().message);
    return;
  }
  Stop(Cause::kProtocolBroken, "a message that an isolate has no business sending");
}

void IsolateRun::HandleEvent(wire::Event event, std::vector<std::string> payloads) {
  if (payloads.size() != 1) return Stop(Cause::kProtocolBroken, "an event without its one payload");
  const auto pass = gate_.OnEvent(event, payloads[0]);
  if (!pass) return Stop(Cause::kProtocolBroken, pass.error().message);
  if (*pass == Pass::kDrop) return;
  event.attempt = attempt_;
  if (!listener_.OnRunEvent(std::move(event), std::move(payloads[0]))) gate_.CountLost();
}

void IsolateRun::HandleCall(wire::Call call, std::vector<std::string> payloads) {
  if (state_ != RunState::kRunning) return;  // killed: nobody waits for the answer
  if (payloads.size() != 2) return Stop(Cause::kProtocolBroken, "a host call without its two payloads");
  if (auto status = gate_.OnCall(call.call, payloads[0], payloads[1]); !status) {
    return Stop(Cause::kProtocolBroken, status.error().message);
  }
  call.attempt = attempt_;
  listener_.OnRunCall(std::move(call), std::move(payloads[0]), std::move(payloads[1]));
}

void IsolateRun::HandleFinal(const wire::Final& final, std::vector<std::string> payloads) {
  if (payloads.size() != 1) return Stop(Cause::kProtocolBroken, "a final without its one payload");
  if (verdict_.FinalRecord(final, std::move(payloads[0]))) {
    gate_.OnDropped(final.usage.dropped_events);
    return Apply(RunEvent::kFinalRead);
  }
  // Not acceptable, or too late; killing again is harmless.
  Apply(RunEvent::kKill);
}

void IsolateRun::OnPeerClosed() {
  socket_watch_.Reset();  // it would be readable for ever
  if (state_ != RunState::kSending && state_ != RunState::kRunning) return;
  eof_timer_ = loop_.After(kEofGrace, [this] {
    if (!TryEnd()) Stop(Cause::kProtocolBroken, "it closed its socket without a final");
  });
}

bool IsolateRun::TryEnd() {
  exit_ = isolate_.TryReap();
  if (!exit_) return false;
  if (ended_at_ == TimePoint{}) ended_at_ = loop_.Now();
  // The dead write no more, so this ends.
  while (!verdict_.has_final() && !distrusted()) {
    const auto end = port_.Read(kLastReadBudget);
    HandleFrames();
    if (end != IsolatePort::ReadEnd::kBudget) break;
  }
  exit_watch_.Reset();
  socket_watch_.Reset();
  timer_.Cancel();
  eof_timer_.Cancel();
  verdict_.Exited(*exit_, JudgeDeath());
  Apply(RunEvent::kExited);
  return true;
}

MemoryEvidence IsolateRun::JudgeDeath() {
  // Asked even of a process that was near its bound: the kernel has counted that death as well.
  const bool unexplained = exit_->signal == SIGKILL && !verdict_.decided();
  const bool by_oom_killer = unexplained && oom_kills_.Explain(loop_.Now());
  const auto own = JudgeMemory(exit_->peak_resident, baseline_.resident, plan_.limits.memory_mb());
  return own == MemoryEvidence::kNo && by_oom_killer ? MemoryEvidence::kOomKiller : own;
}

// Nothing that it sends is looked at any more: what came before stands, what comes after is noise.
bool IsolateRun::distrusted() const {
  return verdict_.cause() == Cause::kProtocolBroken || verdict_.cause() == Cause::kHandOver;
}

Usage IsolateRun::usage() const {
  Usage usage;
  gate_.Report(usage);
  if (verdict_.started()) usage.wall_ms = MillisBetween(sent_at_, ended_at_);
  if (exit_) {
    const Micros cpu = exit_->cpu > cpu_baseline_ ? exit_->cpu - cpu_baseline_ : Micros(0);
    usage.cpu_ms = static_cast<double>(cpu.count()) / 1000;
    usage.memory_peak_bytes = (exit_->peak_resident - baseline_.resident).count();
  } else if (released()) {
    usage.cpu_ms = static_cast<double>((cpu_at_release_ - cpu_baseline_).count()) / 1000;
    usage.memory_peak_bytes = growth_at_release_.count();
  }
  return usage;
}

}  // namespace skerry::agent
