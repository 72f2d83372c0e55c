// How jobs get to workers, and their code.
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "broker/jobs/job_ledger.h"
#include "broker/jobs/job_log.h"
#include "broker/jobs/retry_policy.h"
#include "broker/workers/worker_conduct.h"

namespace skerry::broker {
namespace {

// Lines looked at behind a job that waits for memory: enough to find a smaller one, and bounded.
constexpr int kMaxPassed = 32;

// Who waits behind one that holds its slot for less does not notice.
constexpr std::uint64_t kLongUs = 1'000'000;

/// Whether the worker has been sent the job's code; it is taken to have it from now on.
bool MayLeaveCodeOut(const Job& job, Worker& worker) {
  if (!job.is_program() || worker.kind().skill < Skill::kPrograms || job.payloads[0].size() == 0)
    return false;
  std::uint64_t name = 0;
  std::memcpy(&name, job.code_hash->data(), sizeof(name));
  return worker.sent_code.Touch(name);
}

}  // namespace

void JobLedger::Dispatch(TimePoint now) {
  if (workers_.AnyAccepting()) workers_seen_ = now;
  int passed = 0;
  while (Job* job = queue_.Front()) {
    Session& session = *job->session;
    if (flow_.MustWait(session)) {
      queue_.fair().Hold(session);
    } else if (Worker* worker = workers_.PickFor(NeedOf(*job))) {
      const std::uint64_t cost_us = costs_.Estimate(*job);
      if (auto refused = CrashesTooOften(ProgramOf(*job), now)) {
        RefuseInQueue(*job, *std::move(refused), now);
      } else if (!MustLeaveAPlace(*job, *worker, cost_us, now)) {
        SendDispatch(*job, *worker, cost_us, now);
      } else if (++passed > kMaxPassed) {
        break;
      } else {
        queue_.fair().SetAside(*job);
      }
    } else if (!workers_.AnyAccepting()) {
      break;
    } else if (!workers_.CouldEverTake(NeedOf(*job))) {
      NoWorkerFor(*job, now);
    } else if (!workers_.AnyFreeSlot() || ++passed > kMaxPassed) {
      break;
    } else if (workers_.AnyFreeSlotFor(NeedOf(*job)) && !MayBePassed(*job, now)) {
      break;  // memory that others leave free will be its own; others' slots it could not use anyway
    } else {
      queue_.fair().SetAside(*job);
    }
  }
  queue_.fair().PutBack();
}

void JobLedger::NoWorkerFor(Job& job, TimePoint now) {
  const Need need = NeedOf(job);
  if (need.libraries.empty() || workers_.LargestMemoryMb(need) > 0)
    return EndWithError(job, JobEvent::kRefuse, NeverFits(need), now);
  // Submitted before any worker was there to know better.
  if (const std::string* unknown = workers_.NeverSeen(need.libraries))
    return EndWithError(job, JobEvent::kRefuse, UnknownLibrary(*unknown), now);
  // A worker that had them may come back. Others' jobs, and its client's others, need not wait for it.
  queue_.Park(job);
}

void JobLedger::Unpark() {
  queue_.Unpark([this](std::span<const std::string> libraries) {
    return workers_.LargestMemoryMb({0, Skill::kPrograms, libraries}) > 0;
  });
}

void JobLedger::RefuseInQueue(Job& job, JobError error, TimePoint now) {
  ++counters_.refused_in_queue;
  // One whose worker was lost may have run: nobody may rely on that it did not.
  error.started = job.runs_before() > 0;
  EndWithError(job, JobEvent::kRefuse, std::move(error), now);
}

bool JobLedger::MustLeaveAPlace(const Job& job, Worker& worker, std::uint64_t cost_us, TimePoint now) {
  if (cost_us < kLongUs) return false;
  const TenantId& tenant = AccountOf(job).tenant;
  const FairQueue& fair = queue_.fair();
  if (fair.RunningOf(tenant) == 0) return false;
  const auto may_come = [&](const TenantId& other) {
    return fair.QueuedOf(other) == 0 && fair.RunningOf(other) == 0;
  };
  return company_.HasOther(tenant, now, TenantCompany::kInAMoment, may_come) &&
         !workers_.HasPlaceBeside(worker, NeedOf(job));
}

bool JobLedger::MayBePassed(Job& job, TimePoint now) {
  if (job.extras == nullptr) job.extras = std::make_unique<JobExtras>();
  auto& since = job.extras->short_of_memory_since;
  if (!since) since = now;
  return now - *since < config_.max_overtaken;
}

void JobLedger::SendDispatch(Job& job, Worker& worker, std::uint64_t cost_us, TimePoint now) {
  if (!Advance(job, JobEvent::kDispatch)) return queue_.Remove(job);
  job.queue_ms += MillisBetween(job.queued_since, now);
  if (job.extras != nullptr) job.extras->short_of_memory_since.reset();
  workers_.Take(worker, job, LeaseId(next_lease_++));
  queue_.Start(job, cost_us);
  job.lease->dispatched_attempt = job.attempt;
  job.lease->since = now;
  job.lease->deadline = now + LeaseTime(job, config_);
  job.lease->code_left_out = MayLeaveCodeOut(job, worker);
  if (job.is_program()) {
    const CodeWay way = job.lease->code_left_out ? CodeWay::kLeftOut : CodeWay::kSent;
    ++counters_.program_dispatches[static_cast<std::size_t>(way)];
  }
  ++job.session->running;
  ++counters_.dispatched;
  LogDispatch(job, worker);
  SayDispatch(job, worker);
}

void JobLedger::SayDispatch(Job& job, Worker& worker) {
  wire::Dispatch dispatch;
  dispatch.lease = job.lease->id;
  dispatch.session = job.session->id;
  dispatch.attempt = job.attempt;
  dispatch.job = SpecOf(job);
  std::vector<Payload> payloads = {job.payloads.begin(), job.payloads.end()};
  if (worker.kind().skill < Skill::kPrograms) {
    // Only a matter of speed, and nothing to it.
    dispatch.job.program = false;
    dispatch.job.reuse = Reuse::kNone;
  }
  if (job.lease->code_left_out) payloads[0] = Payload();
  SendTo(worker, std::move(dispatch), std::move(payloads));
}

std::optional<std::string> JobLedger::SendCode(Worker& worker, const wire::Need& need, std::size_t payloads,
                                               TimePoint now) {
  Job* job = FindLease(worker, need.lease);
  if (job == nullptr) return Stray(worker, need.lease, wire::Need::kType);
  if (auto lie = LieIn(need, payloads, *job)) return lie;
  if (job->state == JobState::kCancelling) {
    // The CANCEL and the question have crossed: it holds nothing that could end.
    EndWithError(*job, JobEvent::kLost, MakeError(Code::kCancelled, "cancelled before it started"), now);
    Dispatch(now);
    return std::nullopt;
  }
  job->lease->code_left_out = false;
  job->lease->deadline = now + LeaseTime(*job, config_);
  ++counters_.program_dispatches[static_cast<std::size_t>(CodeWay::kNeeded)];
  SayDispatch(*job, worker);
  return std::nullopt;
}

}  // namespace skerry::broker
