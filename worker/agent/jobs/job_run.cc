#include "worker/agent/jobs/job_run.h"

#include <utility>

#include "common/logging.h"
#include "worker/agent/isolates/isolate_exit.h"

namespace skerry::agent {
namespace {

// After the first, on another isolate: with a failing cell more would only take longer to say so.
constexpr int kMaxFailedHandOvers = 2;
constexpr int kMaxDeaths = 1;

void SendFinal(Uplink& uplink, const wire::Dispatch& dispatch, const Outcome& outcome,
               std::uint32_t crashes) {
  wire::Final final = wire::ToFinal(outcome);
  final.lease = dispatch.lease;
  final.crashes = crashes;
  std::vector<std::string> payloads = {outcome.error ? wire::DetailPayload(*outcome.error) : outcome.value};
  if (!outcome.receipt.empty()) payloads.push_back(outcome.receipt);
  uplink.Send(std::move(final), std::move(payloads));
}

}  // namespace

void SendRefusal(Uplink& uplink, const wire::Dispatch& dispatch, JobError error) {
  Outcome outcome;
  outcome.attempt = dispatch.attempt;
  outcome.error = std::move(error);
  SendFinal(uplink, dispatch, outcome, 0);
}

JobRun::JobRun(EventLoop& loop, IsolateManager& isolates, Uplink& uplink, JobPlan plan, Lease lease,
               std::function<void()> done)
    : loop_(loop),
      isolates_(isolates),
      uplink_(uplink),
      plan_(std::move(plan)),
      lease_(std::move(lease)),
      done_(std::move(done)),
      attempt_(plan_.dispatch.attempt) {}

void JobRun::Begin() {
  log::Debug("job taken", {{"job", plan_.dispatch.job.id.str()},
                           {"tenant", plan_.dispatch.job.tenant.str()},
                           {"user", plan_.dispatch.job.user.str()},
                           {"lease", plan_.dispatch.lease.value()},
                           {"attempt", attempt_}});
  if (plan_.dispatch.job.receipt) return HashContent();
  SeekIsolate();
}

void JobRun::HashContent() {
  if (content_.HashSome(plan_.code, plan_.input)) return SeekIsolate();
  next_hashing_ = loop_.After(Millis(0), [this] { HashContent(); });
}

bool JobRun::SeekUsedIsolate() {
  const auto key = fresh_only_ ? std::nullopt : ReuseKey(plan_);
  if (!key) return false;
  if (auto isolate = isolates_.keeper().Take(*key)) {
    Run(std::move(*isolate));
    return true;
  }
  used_ticket_ = isolates_.keeper().Await(*key, [this](std::optional<Isolate> isolate) {
    if (isolate) return Run(std::move(*isolate));
    fresh_only_ = true;
    SeekIsolate();
  });
  return used_ticket_.waits();
}

void JobRun::SeekIsolate() {
  if (plan_.dispatch.job.program && !from_beginning_) {
    auto ticket = isolates_.derived().AwaitProgram(plan_, [this](Result<Isolate> isolate) {
      if (isolate) return Run(std::move(*isolate));
      // A program that is not kept is a program like any other.
      from_beginning_ = true;
      SeekIsolate();
    });
    if (ticket) {
      ticket_ = std::move(*ticket);
      return;
    }
  }
  if (!plan_.libraries.empty()) {
    auto ticket = isolates_.derived().AwaitLibraries(plan_, TakeIsolate());
    if (!ticket) return GoWithout(ticket.error());
    ticket_ = std::move(*ticket);
    return;
  }
  const bool found = SeekUsedIsolate();
  isolates_.FitKept();
  if (found) return;
  if (auto isolate = isolates_.TakeSpare()) return Run(std::move(*isolate));
  ticket_ = isolates_.Await(TakeIsolate());
}

WaitingJobs::Ready JobRun::TakeIsolate() {
  return [this](Result<Isolate> isolate) {
    if (isolate) return Run(std::move(*isolate));
    GoWithout(isolate.error());
  };
}

void JobRun::GoWithout(const Error& why) {
  // One that has not run yet is turned down, as one that finds no slot is: the broker has it wait again. But
  // for libraries that fail: waiting does not help.
  const bool lost = started_ || why.kind == ErrorKind::kInvalid;
  Outcome outcome;
  outcome.error = NotRunning(lost ? Code::kLost : Code::kOverloaded, why.message);
  Finish(std::move(outcome));
}

void JobRun::Run(Isolate isolate) {
  run_.emplace(loop_, std::move(isolate), plan_, attempt_, isolates_.oom_kills(),
               static_cast<RunListener&>(*this));
  forbidden_calls_ = isolates_.forbidden_calls().Register(
      run_->pid(), [this](const std::string& call) { run_->Stop(Cause::kForbiddenCall, call); });
  run_->Start();
}

void JobRun::Answer(const wire::Answer& answer, std::string payload) {
  // An answer to an earlier attempt's call is not this attempt's.
  if (run_ && answer.attempt == attempt_) run_->Answer(answer.call, answer.kind, std::move(payload));
}

void JobRun::Stop(Cause cause) {
  if (run_) return run_->Stop(cause);
  Outcome outcome;
  outcome.error = cause == Cause::kCancelled ? NotRunning(Code::kCancelled, "the job was cancelled")
                                             : NotRunning(Code::kLost, "the worker was stopped");
  Finish(std::move(outcome));
}

void JobRun::Abandon() {
  abandoned_ = true;
  Stop(Cause::kAborted);
}

JobError JobRun::NotRunning(Code code, std::string message) const {
  JobError error = MakeError(code, std::move(message));
  error.started = started_;
  return error;
}

bool JobRun::OnRunEvent(wire::Event event, std::string payload) {
  if (abandoned_) return true;
  event.id = JobId();
  event.lease = plan_.dispatch.lease;
  std::vector<std::string> payloads;
  payloads.push_back(std::move(payload));
  if (uplink_.Send(std::move(event), std::move(payloads))) return true;
  ++isolates_.stats().lost_events;
  return false;
}

void JobRun::OnRunCall(wire::Call call, std::string method, std::string params) {
  if (abandoned_) return;
  call.id = JobId();
  call.lease = plan_.dispatch.lease;
  std::vector<std::string> payloads;
  payloads.push_back(std::move(method));
  payloads.push_back(std::move(params));
  uplink_.Send(std::move(call), std::move(payloads));
}

void JobRun::OnRunEnded() {
  RerunPolicy policy;
  policy.retry = plan_.dispatch.job.retry;
  policy.made_host_call = run_->made_host_call();
  policy.may_run_again = deaths_ < kMaxDeaths;
  policy.used_isolate = run_->used_isolate();
  policy.may_hand_over_again = failed_hand_overs_ < kMaxFailedHandOvers;
  if (!run_->released()) isolates_.stats().Count(ExitOf(run_->verdict(), run_->exit_status()));
  Decision decision = run_->verdict().Decide(policy);
  TellManager(decision);
  if (decision.crashed) ++crashes_;
  started_ = started_ || run_->verdict().started();
  if (plan_.dispatch.job.receipt && run_->verdict().started()) {
    receipt_ = Receipt(plan_, content_, run_->seed(), run_->v8());
  }
  forbidden_calls_.End();
  const Usage measured = run_->usage();
  if (run_->released()) {
    IsolatePort port = run_->TakePort();
    isolates_.keeper().Keep(run_->TakeIsolate(), std::move(port), *ReuseKey(plan_));
  }
  run_.reset();
  if (decision.rerun != Rerun::kNo && !abandoned_) return RunAgain(decision);
  // What the worker measured, with the two figures that only the record had.
  const Usage record = std::exchange(decision.outcome.usage, measured);
  decision.outcome.usage.heap_peak_bytes = record.heap_peak_bytes;
  decision.outcome.usage.result_bytes = record.result_bytes;
  if (decision.outcome.error) decision.outcome.error->started = started_;
  Finish(std::move(decision.outcome));
}

void JobRun::TellManager(const Decision& decision) {
  const Verdict& verdict = run_->verdict();
  const bool told = verdict.cause() == Cause::kCancelled || verdict.cause() == Cause::kAborted;
  // One that was stopped while it was being sent says nothing about its cell, and no more does one in an
  // isolate that others had used.
  const DerivedNumber derived = run_->derived_cell();
  const bool failed = !verdict.started() && !told && !run_->used_isolate();
  if (derived != 0) {
    if (failed) isolates_.derived().NoteFailedHandOver(derived);
  } else if (verdict.started()) {
    isolates_.NoteHandOver(run_->cell(), HandOver::kWorked);
  } else if (failed) {
    isolates_.NoteHandOver(run_->cell(), HandOver::kFailed);
  }
  if (decision.retire_cell) {
    isolates_.derived().Retire(derived);
    isolates_.Retire(run_->cell());
  }
}

void JobRun::RunAgain(const Decision& decision) {
  log::Info("a job is run again", {{"job", plan_.dispatch.job.id.str()},
                                   {"tenant", plan_.dispatch.job.tenant.str()},
                                   {"user", plan_.dispatch.job.user.str()},
                                   {"lease", plan_.dispatch.lease.value()},
                                   {"attempt", attempt_},
                                   {"code", NameOf(decision.outcome.error->code)},
                                   {"reason", decision.outcome.error->message}});
  ++isolates_.stats().reruns;
  // Nothing that other runs have left behind can be to blame for the next.
  from_beginning_ = true;
  fresh_only_ = true;
  if (decision.rerun == Rerun::kAsNextAttempt) {
    ++attempt_;
    ++deaths_;
  } else {
    ++failed_hand_overs_;
  }
  SeekIsolate();
}

void JobRun::Finish(Outcome outcome) {
  outcome.attempt = attempt_;
  outcome.receipt = std::move(receipt_);
  log::Debug("job ended", {{"job", plan_.dispatch.job.id.str()},
                           {"tenant", plan_.dispatch.job.tenant.str()},
                           {"user", plan_.dispatch.job.user.str()},
                           {"lease", plan_.dispatch.lease.value()},
                           {"attempt", attempt_},
                           {"code", outcome.error ? NameOf(outcome.error->code) : "ok"},
                           {"wallMs", outcome.usage.wall_ms}});
  // Before the FINAL: the broker may answer it with the next job.
  next_hashing_.Cancel();
  ticket_.Leave();
  used_ticket_.Leave();
  lease_.Release();
  isolates_.FitKept();
  if (!abandoned_) SendFinal(uplink_, plan_.dispatch, outcome, crashes_);
  const auto done = std::move(done_);
  done();
}

}  // namespace skerry::agent
