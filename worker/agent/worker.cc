#include "worker/agent/worker.h"

#include <csignal>
#include <utility>
#include <variant>

#include "common/logging.h"

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
constexpr const char* kSoftware = "skerry/0.1.0";

}  // namespace

Worker::Worker(EventLoop& loop, const WorkerOptions& options, CellFactory cells)
    : loop_(loop),
      options_(options),
      isolates_(loop, std::move(cells), options.ManagerOptions()),
      link_(loop, *this, options.broker_url, [this] { return Greeting(); }) {
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
  hello.software = kSoftware;
  hello.slots = healthy_ ? isolates_.ledger().max_leases() : 0;
  hello.memory_mb = isolates_.ledger().memory_mb();
  return hello;
}

void Worker::OnFirstCell(const Status& started) {
  if (state_ != State::kStarting) return;
  if (!started) {
    spdlog::error("{}", started.error().message);
    return Stop(kCannotServe);
  }
  if (auto status = link_.Open(); !status) {
    spdlog::error("{}", status.error().message);
    return Stop(kCannotServe);
  }
  state_ = State::kServing;
  spdlog::info("worker {} serves {}: {} isolates, {} spares, {} MiB for jobs", options_.id,
               options_.broker_url, options_.isolates, options_.spares, isolates_.ledger().memory_mb());
}

void Worker::OnHealth(bool healthy) {
  healthy_ = healthy;
  if (state_ != State::kServing || !link_.connected()) return;
  wire::Credit credit;
  credit.slots = healthy ? isolates_.ledger().max_leases() : 0;
  credit.memory_mb = isolates_.ledger().memory_mb();
  link_.Send(credit, {});
}

void Worker::OnWelcome(Leases leases) {
  if (leases == Leases::kForgotten) DisownJobs();
  if (state_ == State::kDraining) SendDrain();
}

/// Their broker is gone: nobody will answer their calls or take their finals, and they may be running
/// elsewhere.
void Worker::DisownJobs() {
  if (jobs_.empty()) return;
  spdlog::warn("the broker knows none of the {} jobs at hand: they are ended", jobs_.size());
  std::vector<JobRun*> jobs;
  for (const auto& [lease, job] : jobs_) jobs.push_back(job.get());
  for (JobRun* job : jobs) job->Disown();
}

void Worker::SendDrain() {
  link_.Send(wire::Drain{}, {});
  link_.Barrier([this] {
    broker_knows_drain_ = true;
    StopWhenIdle();
  });
}

void Worker::OnRefused(const std::string& reason) {
  spdlog::error("the broker refuses this worker: {}", reason);
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
    if (JobRun* job = JobOf(cancel->lease)) job->Stop(Cause::kCancelled);
    return;
  }
  spdlog::warn("the broker sent a message that a worker has no use for");
}

void Worker::OnDispatch(wire::Dispatch dispatch, std::vector<std::string> payloads) {
  const LeaseId id = dispatch.lease;
  if (jobs_.count(id) != 0) return spdlog::warn("lease {} was dispatched twice", id.value());
  const wire::Dispatch header = dispatch;
  auto planned = PlanJob(std::move(dispatch), std::move(payloads), options_.max_job_memory_mb);
  if (auto* refused = std::get_if<JobError>(&planned)) return SendRefusal(link_, header, std::move(*refused));
  auto& plan = std::get<JobPlan>(planned);
  auto lease = isolates_.Acquire(plan.limits.memory_mb());
  if (!lease) {
    spdlog::warn("lease {} is refused: {}", id.value(), lease.error().message);
    JobError error = MakeError(Code::kOverloaded, lease.error().message);
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
  // Still inside the job's own call: it is freed once that has returned.
  done_.push_back(std::move(job->second));
  jobs_.erase(job);
  loop_.Post([this] {
    done_.clear();
    StopWhenIdle();
  });
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
  spdlog::info("draining: {} jobs at hand", jobs_.size());
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
  spdlog::warn("stopping at once: {} jobs are lost", jobs_.size());
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
  if (!jobs_.empty()) return;
  if (state_ == State::kDraining && broker_knows_drain_) Stop(0);
  if (state_ == State::kAborting) Stop(exit_status_);
}

void Worker::Stop(int exit_status) {
  if (state_ == State::kStopped) return;
  const bool linked = state_ != State::kStarting;
  state_ = State::kStopped;
  exit_status_ = exit_status;
  if (linked) link_.Close(kFarewell);
  loop_.Stop();
}

}  // namespace skerry::agent
