#include "worker/agent/worker.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <utility>
#include <variant>

#include "common/hash.h"
#include "common/logging.h"
#include "common/pool_limits.h"
#include "common/version.h"
#include "common/wire/negotiate.h"

namespace skerry::agent {
namespace {

constexpr int kCannotServe = 1;
constexpr int kAborted = 130;
// For the broker's word that it has read the DRAIN.
constexpr Millis kDrainPatience{2'000};
// For killed isolates to be reaped.
constexpr Millis kAbortPatience{2'000};
// A broker that counts leases never hears this; one that does not is told to come back about when a slot is
// free.
constexpr std::uint32_t kRetryAfterMs = 100;
// For what is queued to leave the socket.
constexpr Millis kFarewell{1'000};
// Often enough for a scrape every few seconds, rare beside the jobs.
constexpr Millis kReportEvery{1'000};

/// For operators; in a pod it is the pod's.
std::string HostName() {
  std::array<char, 65> name{};  // the wire takes 64 bytes
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

}  // namespace

Worker::Worker(EventLoop& loop, const WorkerOptions& options, CellFactory cells)
    : loop_(loop),
      options_(options),
      isolates_(loop, std::move(cells), options.ManagerOptions()),
      code_(Bytes::MiB(options.kept_code_mb)),
      link_(loop, *this, {options.broker_url, options.key_file, options.broker_key},
            [this] { return Greeting(); }) {
  isolates_.set_on_health([this](bool healthy) { OnHealth(healthy); });
}

Worker::~Worker() = default;

int Worker::Run() {
  loop_.OnSignals({SIGTERM, SIGINT}, [this](int) { Terminate(); });
  isolates_.Start([this](const Status& started) { OnFirstCell(started); });
  loop_.Run();
  return exit_status_;
}

wire::Hello Worker::Greeting() const {
  wire::Hello hello;
  hello.role = wire::Role::kWorker;
  hello.session = SessionId(options_.id);
  hello.software = kSkerrySoftware;
  hello.capabilities = {std::string(wire::kStatsCapability), "wasm",
                        std::string(wire::kReproducibleCapability), std::string(wire::kProgramsCapability)};
  hello.libraries = options_.shelf.names();
  hello.v8 = isolates_.v8_version();
  hello.sandbox = NameOf(isolates_.sandbox_level());
  hello.host = HostName();
  hello.pid = static_cast<std::uint64_t>(getpid());
  hello.slots = healthy_ ? isolates_.ledger().max_leases() : 0;
  hello.memory_mb = isolates_.ledger().memory_mb();
  hello.leases = link_.UnconfirmedFinals();
  for (const auto& [lease, job] : jobs_) {
    if (!abandoned_.contains(job.get())) hello.leases.push_back(lease);
  }
  for (const auto& [dispatch, payloads] : early_) hello.leases.push_back(dispatch.lease);
  // More than one HELLO can name: finals that a broker's PONGs have long confirmed in all likelihood.
  if (hello.leases.size() > wire::kMaxArray)
    hello.leases.erase(hello.leases.begin(), hello.leases.end() - wire::kMaxArray);
  return hello;
}

void Worker::OnFirstCell(const Status& started) {
  if (state_ != State::kStarting) return;
  if (!started) {
    log::Error("the first cell could not be started", {{"reason", started.error().message}});
    return Stop(kCannotServe);
  }
  if (auto status = link_.Open(); !status) {
    log::Error("the broker's endpoint cannot be used", {{"reason", status.error().message}});
    return Stop(kCannotServe);
  }
  state_ = State::kServing;
  log::Info("started; looking for the broker", {{"worker", options_.id},
                                                {"broker", options_.broker_url},
                                                {"isolates", options_.isolates},
                                                {"spares", options_.spares},
                                                {"jobsMb", isolates_.ledger().memory_mb()},
                                                {"oomKills", NameOf(isolates_.oom_counter())},
                                                {"v8", isolates_.v8_version()}});
}

void Worker::OnHealth(bool healthy) {
  healthy_ = healthy;
  if (state_ != State::kServing || !link_.connected()) return;
  wire::Credit credit;
  credit.slots = healthy ? isolates_.ledger().max_leases() : 0;
  credit.memory_mb = isolates_.ledger().memory_mb();
  link_.Send(credit, {});
}

void Worker::OnWelcome(const wire::Welcome& welcome, Memory memory) {
  const auto agreed = wire::CheckAgreed({wire::kOldestVersion, wire::kVersion}, welcome.version, "worker");
  if (!agreed) return OnRefused(agreed.error().message);
  reporter_.OnWelcome(welcome);
  KeepReporting();
  if (memory == Memory::kForgotten && !jobs_.empty()) AbandonJobs();
  if (state_ == State::kDraining) SendDrain();
}

void Worker::SendStats() {
  if (!link_.connected()) return;  // one that waited would be out of date
  if (const auto stats = reporter_.Report(isolates_.Figures())) link_.Send(*stats, {});
}

void Worker::KeepReporting() {
  SendStats();
  report_timer_ = loop_.After(kReportEvery, [this] { KeepReporting(); });
}

void Worker::SendDrain() {
  link_.Send(wire::Drain{}, {});
  link_.Barrier([this] {
    broker_knows_drain_ = true;
    StopWhenIdle();
  });
}

void Worker::OnRefused(const std::string& reason) {
  log::Error("the broker refuses this worker", {{"reason", reason}});
  Abort(kCannotServe);
}

void Worker::OnMessage(wire::Header header, std::vector<std::string> payloads) {
  if (auto* dispatch = std::get_if<wire::Dispatch>(&header))
    return OnDispatch(*dispatch, std::move(payloads));
  if (const auto* answer = std::get_if<wire::Answer>(&header)) {
    if (JobRun* job = JobOf(answer->lease))
      job->Answer(*answer, payloads.empty() ? "" : std::move(payloads[0]));
    return;
  }
  if (const auto* cancel = std::get_if<wire::Cancel>(&header)) {
    if (JobRun* job = JobOf(cancel->lease)) return job->Stop(Cause::kCancelled);
    const auto early = std::find_if(early_.begin(), early_.end(),
                                    [&](const auto& entry) { return entry.first.lease == cancel->lease; });
    if (early == early_.end()) return;
    const wire::Dispatch dispatch = early->first;
    early_.erase(early);
    SendRefusal(link_, dispatch, MakeError(Code::kCancelled, "the job was cancelled"));
    return;
  }
  log::Warn("the broker sent a message that a worker has no use for");
}

bool Worker::CompleteCode(const wire::Dispatch& dispatch, std::vector<std::string>& payloads) {
  const JobSpec& job = dispatch.job;
  if (!job.program || job.code_hash.empty() || payloads.empty()) return true;
  if (!payloads[0].empty() || IsHashOfNothing(job.code_hash)) {
    code_.Keep(job.code_hash, payloads[0]);
    return true;
  }
  if (const std::string* code = code_.Find(job.code_hash)) {
    payloads[0] = *code;
    return true;
  }
  wire::Need need;
  need.lease = dispatch.lease;
  link_.Send(need, {});
  return false;
}

void Worker::OnDispatch(wire::Dispatch dispatch, std::vector<std::string> payloads) {
  if (!CompleteCode(dispatch, payloads)) return;
  if (!early_.empty() || (!abandoned_.empty() && isolates_.ledger().leases() + 1 > options_.isolates)) {
    early_.emplace_back(std::move(dispatch), std::move(payloads));
    return;
  }
  Start(std::move(dispatch), std::move(payloads));
}

void Worker::Start(wire::Dispatch dispatch, std::vector<std::string> payloads) {
  const LeaseId id = dispatch.lease;
  if (jobs_.count(id) != 0) return log::Warn("a lease was dispatched twice", {{"lease", id.value()}});
  const wire::Dispatch header = dispatch;
  auto planned =
      PlanJob(std::move(dispatch), std::move(payloads), options_.max_job_memory_mb, options_.shelf);
  if (auto* refused = std::get_if<JobError>(&planned)) return SendRefusal(link_, header, std::move(*refused));
  auto& plan = std::get<JobPlan>(planned);
  auto lease = isolates_.Acquire(plan.limits.memory_mb());
  if (!lease) {
    log::Warn("a lease is refused", {{"job", header.job.id.str()},
                                     {"tenant", header.job.tenant.str()},
                                     {"user", header.job.user.str()},
                                     {"lease", id.value()},
                                     {"attempt", header.attempt},
                                     {"reason", lease.error().message}});
    const LeaseLedger& ledger = isolates_.ledger();
    const PoolLimit limit = ledger.leases() >= ledger.max_leases() ? PoolLimit::kMaxConcurrentIsolates
                                                                   : PoolLimit::kWorkerMemoryMb;
    JobError error = MakeError(Code::kOverloaded, lease.error().message, std::string(NameOf(limit)));
    error.retry_after_ms = kRetryAfterMs;
    return SendRefusal(link_, header, std::move(error));
  }
  auto job = std::make_unique<JobRun>(loop_, isolates_, link_, std::move(plan), std::move(*lease),
                                      [this, id] { OnJobDone(id); });
  JobRun& begun = *job;
  jobs_.emplace(id, std::move(job));
  begun.Begin();
}

JobRun* Worker::JobOf(LeaseId lease) {
  const auto job = jobs_.find(lease);
  return job == jobs_.end() ? nullptr : job->second.get();
}

void Worker::OnJobDone(LeaseId lease) {
  const auto job = jobs_.find(lease);
  abandoned_.erase(job->second.get());
  // Still inside the job's own call: it is freed once that has returned.
  done_.push_back(std::move(job->second));
  jobs_.erase(job);
  loop_.Post([this] {
    done_.clear();
    while (!early_.empty() && (abandoned_.empty() || isolates_.ledger().leases() < options_.isolates)) {
      auto [dispatch, payloads] = std::move(early_.front());
      early_.pop_front();
      Start(std::move(dispatch), std::move(payloads));
    }
    StopWhenIdle();
  });
}

void Worker::AbandonJobs() {
  log::Warn("the broker has given this worker's jobs away; they are ended", {{"jobs", jobs_.size()}});
  early_.clear();
  std::vector<JobRun*> jobs;
  for (const auto& [lease, job] : jobs_) jobs.push_back(job.get());
  for (JobRun* job : jobs) {
    abandoned_.insert(job);
    job->Abandon();
  }
}

void Worker::Terminate() {
  switch (state_) {
    case State::kStarting:
      return Stop(kAborted);
    case State::kServing:
      return BeginDrain();
    case State::kDraining:
      return Abort(kAborted);
    case State::kAborting:
    case State::kStopped:
      return;
  }
}

void Worker::BeginDrain() {
  log::Info("draining", {{"jobs", jobs_.size()}});
  state_ = State::kDraining;
  isolates_.StopSpares();
  if (link_.connected()) {
    SendDrain();
  } else {
    broker_knows_drain_ = true;  // nobody to tell
  }
  patience_ = loop_.After(kDrainPatience, [this] {
    broker_knows_drain_ = true;
    StopWhenIdle();
  });
  StopWhenIdle();
}

void Worker::Abort(int exit_status) {
  log::Warn("stopping at once, the jobs at hand are lost", {{"jobs", jobs_.size()}});
  state_ = State::kAborting;
  exit_status_ = exit_status;
  isolates_.StopSpares();
  std::vector<JobRun*> jobs;
  for (const auto& [lease, job] : jobs_) jobs.push_back(job.get());
  for (JobRun* job : jobs) job->Stop(Cause::kAborted);
  patience_ = loop_.After(kAbortPatience, [this] { Stop(exit_status_); });
  StopWhenIdle();
}

void Worker::StopWhenIdle() {
  if (!jobs_.empty() || !early_.empty()) return;
  if (state_ == State::kDraining && broker_knows_drain_) Stop(0);
  if (state_ == State::kAborting) Stop(exit_status_);
}

void Worker::Stop(int exit_status) {
  if (state_ == State::kStopped) return;
  const bool linked = state_ != State::kStarting;
  state_ = State::kStopped;
  exit_status_ = exit_status;
  report_timer_.Cancel();
  if (linked) {
    SendStats();
    link_.Close(kFarewell);
  }
  loop_.Stop();
}

}  // namespace skerry::agent
