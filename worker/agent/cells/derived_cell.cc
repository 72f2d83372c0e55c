#include "worker/agent/cells/derived_cell.h"

#include <signal.h>

#include <utility>
#include <variant>

namespace skerry::agent {
namespace {

// A process that closes its control socket and lives on is no cell any more.
constexpr Millis kEndPatience{1'000};
constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

std::string WhyStopped(Cause cause) {
  switch (cause) {
    case Cause::kWallClock:
      return "it takes longer than timeoutMs to evaluate";
    case Cause::kCpuClock:
      return "it takes more than cpuMs to evaluate";
    default:
      return "it takes more than memoryMb to evaluate";
  }
}

}  // namespace

DerivedCell::DerivedCell(EventLoop& loop, ForbiddenCallWatch& forbidden_calls, std::unique_ptr<Cell> cell,
                         DerivedCellBirth birth, Millis fork_timeout, DerivedCellListener& listener)
    : loop_(loop),
      birth_(std::move(birth)),
      fork_timeout_(fork_timeout),
      listener_(listener),
      cell_(std::move(cell)),
      forbidden_calls_(forbidden_calls),
      limits_(birth_.limits) {}

void DerivedCell::Begin() {
  since_ = loop_.Now();
  if (auto reports = cell_->TakeForbiddenCalls()) forbidden_calls_.Add(std::move(reports));
  registration_ = forbidden_calls_.RegisterCell(
      pid(), [this] { return cell_->TakeForkPermit(); },
      [this](const std::string& call) {
        Lose(ErrorKind::kInvalid, "it made the forbidden system call " + call);
      });
  watch_ = loop_.OnReadable(cell_->control_fd(), [this] { OnControlReadable(); });
  limits_.Start(since_);
  timer_ = loop_.deadlines().At(limits_.NextCheck(), [this] { CheckLimits(); });
}

void DerivedCell::CheckLimits() {
  LimitWatch::Readings readings;
  if (const auto cpu = ReadCpuTime(pid())) readings.cpu = *cpu;
  readings.memory_growth = ReadGrowth(pid(), birth_.parent, Bytes::MiB(birth_.limits.memory_mb()));
  if (const auto cause = limits_.Check(loop_.Now(), readings)) {
    return LoseOverLimit(*cause);
  }
  timer_ = loop_.deadlines().At(limits_.NextCheck(), [this] { CheckLimits(); });
}

void DerivedCell::OnControlReadable() {
  for (const std::weak_ptr<bool> alive = alive_; !alive.expired();) {
    auto forked = cell_->OnReadable();
    if (!forked && forked.error().kind == ErrorKind::kUnavailable) return AwaitEnd(forked.error().message);
    if (!forked) return Lose(forked.error().kind, forked.error().message);
    if (!ready_ && cell_->IsReady()) {
      OnReady();
      if (alive.expired()) return;
    }
    if (!*forked) return;
    TakeForked(std::move(**forked));
  }
}

void DerivedCell::OnReady() {
  ready_ = true;
  timer_.Cancel();
  listener_.OnCellPrepared(birth_.number);
}

void DerivedCell::TakeForked(Forked forked) {
  const bool is_isolate = std::holds_alternative<ForkedProcess>(forked);
  const bool in_order = !asked_.empty() && (asked_.front() == Asked::kFork) == is_isolate;
  if (!in_order) return Lose(ErrorKind::kInvalid, "it hands out what it was not asked for");
  asked_.pop_front();
  if (is_isolate) --pending_forks_;
  if (asked_.empty()) {
    timer_.Cancel();
  } else {
    ArmForkTimeout();
  }
  if (auto* made = std::get_if<std::unique_ptr<Cell>>(&forked)) {
    return listener_.OnCellMade(birth_.number, std::move(*made));
  }
  Descent descent;
  descent.derived = birth_.number;
  if (is_program()) descent.before_program = birth_.parent;
  listener_.OnCellForked(birth_.number, Isolate(std::move(std::get<ForkedProcess>(forked)), birth_.base,
                                                birth_.v8, std::move(descent)));
}

Status DerivedCell::RequestFork() {
  if (ending_) return Fail(ErrorKind::kExhausted, "it is ending");
  return Note(Asked::kFork, cell_->RequestFork());
}

Status DerivedCell::RequestCell(std::shared_ptr<const cell::CellRecipe> recipe) {
  if (ending_) return Fail(ErrorKind::kExhausted, "it is ending");
  return Note(Asked::kCell, cell_->RequestCell(std::move(recipe)));
}

Status DerivedCell::Note(Asked what, const Status& status) {
  if (!status) {
    if (status.error().kind == ErrorKind::kExhausted) {
      again_timer_ = loop_.After(kAskAgainAfter, [this] { listener_.OnCellHasRoom(birth_.number); });
    } else if (status.error().kind != ErrorKind::kInvalid) {
      AwaitEnd(status.error().message);
    }
    return status;
  }
  asked_.push_back(what);
  if (what == Asked::kFork) ++pending_forks_;
  ++forks_;
  if (asked_.size() == 1) ArmForkTimeout();
  return {};
}

void DerivedCell::ArmForkTimeout() {
  timer_ = loop_.After(fork_timeout_, [this] { Lose(ErrorKind::kInternal, "it does not fork"); });
}

Result<std::uint64_t> DerivedCell::Settle(Bytes spare) {
  const auto memory = ReadMemory(pid());
  if (!memory) return Fail(memory.error());
  const auto own = ReadPrivateMemory(pid());
  if (!own) return Fail(own.error());
  const Bytes more = *own - birth_.parent.anonymous;
  if (is_program()) {
    if (auto status = LimitDataForNow(pid(), memory->data + spare); !status) return Fail(status.error());
  }
  return (more.count() + kMiB - 1) / kMiB;
}

void DerivedCell::LoseOverLimit(Cause cause) {
  // Libraries cannot sleep: their CPU is bounded, and where that takes too long the machine is to blame.
  const bool starved = !is_program() && cause == Cause::kWallClock;
  Lose(starved ? ErrorKind::kUnavailable : ErrorKind::kInvalid, WhyStopped(cause));
}

void DerivedCell::AwaitEnd(std::string why) {
  if (std::exchange(ending_, true)) return;
  watch_.Reset();
  again_timer_.Cancel();
  if (cell_->pidfd() >= 0) end_watch_ = loop_.OnReadable(cell_->pidfd(), [this, why] { OnEnd(why); });
  timer_ = loop_.After(cell_->pidfd() >= 0 ? kEndPatience : Millis(0),
                       [this, why = std::move(why)] { Lose(ErrorKind::kInternal, why); });
}

void DerivedCell::OnEnd(const std::string& why) {
  const auto end = PeekExit(cell_->pidfd());
  if (!end) return;
  const bool killed = end->signal == SIGKILL;
  const std::string how = end->signal != 0 ? "ended by signal " + std::to_string(end->signal)
                                           : "exited with status " + std::to_string(end->code);
  Lose(killed ? ErrorKind::kUnavailable : ErrorKind::kInternal, why + " (" + how + ")");
}

void DerivedCell::Lose(ErrorKind kind, std::string why) {
  timer_.Cancel();
  again_timer_.Cancel();
  watch_.Reset();
  end_watch_.Reset();
  registration_.End();
  listener_.OnCellLost(birth_.number, Error{kind, std::move(why)});
}

}  // namespace skerry::agent
