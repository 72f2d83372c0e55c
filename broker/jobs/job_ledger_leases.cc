#include <algorithm>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "broker/jobs/job_ledger.h"
#include "broker/jobs/job_log.h"
#include "broker/jobs/open_calls.h"
#include "broker/jobs/retry_policy.h"
#include "broker/workers/worker_conduct.h"
#include "common/logging.h"

namespace skerry::broker {
namespace {

// Dispatches that workers may turn down before their client hears of it: a worker that drains while a
// dispatch is on its way costs one; more mean that it lies about its credit.
constexpr std::uint32_t kMaxBounces = 5;

/// In this order each requeued at the front goes before those dispatched after it.
void SortLaterLeasesFirst(std::vector<Job*>& jobs) {
  std::sort(jobs.begin(), jobs.end(), [](const Job* a, const Job* b) { return a->lease->id > b->lease->id; });
}

}  // namespace

Job* JobLedger::FindLease(Worker& worker, LeaseId lease) {
  const auto found = worker.leases().find(lease);
  return found == worker.leases().end() ? nullptr : found->second;
}

std::optional<std::string> JobLedger::Stray(Worker& worker, LeaseId lease, std::string_view type) {
  ++(type == wire::Final::kType ? counters_.stray_finals : counters_.stray_messages);
  if (worker.revoked.Contains(lease)) {
    ++counters_.late_messages;
    return std::nullopt;
  }
  return std::string(type) + " for lease " + std::to_string(lease.value()) + ", which it does not hold";
}

void JobLedger::NoteAttempt(Job& job, std::uint32_t attempt) {
  job.lease->heard_of = true;
  if (attempt <= job.attempt) return;
  // A run that the worker repeated by itself counts as one before, and is the one repetition that `safe`
  // allows.
  job.attempt = attempt;
  ForgetCalls(job);
  job.lease->last_call = 0;
  job.lease->events = 0;
}

void JobLedger::Release(Job& job, std::uint64_t cost_us) {
  if (job.lease == nullptr) return;
  queue_.fair().Stop(job, cost_us);
  ForgetCalls(job);
  --job.session->running;
  workers_.Release(job);
  // Those that run count as finals to come: one less may be what its session was held back for.
  if (!flow_.MustWait(*job.session)) queue_.fair().Release(*job.session);
}

void JobLedger::SendTo(Worker& worker, wire::Header header, std::vector<Payload> payloads) {
  if (worker.state() == WorkerState::kServing || worker.state() == WorkerState::kDraining)
    outbox_.Put(worker.link, std::move(header), std::move(payloads));
}

std::optional<std::string> JobLedger::Relay(Worker& worker, wire::Event event,
                                            std::vector<Payload> payloads) {
  Job* job = FindLease(worker, event.lease);
  if (job == nullptr) return Stray(worker, event.lease, wire::Event::kType);
  if (auto lie = LieIn({wire::Event::kType, event.attempt, payloads.size(), 1}, *job)) return lie;
  NoteAttempt(*job, event.attempt);
  ++job->lease->events;
  if (auto lie = TooManyEvents(*job)) return lie;
  event.id = job->id;
  event.lease = LeaseId();
  const auto type = static_cast<std::size_t>(event.type);
  if (clients_.Send(*job->session, std::move(event), std::move(payloads)) == Delivery::kDropped) {
    ++job->dropped_events;
    ++counters_.dropped_events;
  } else {
    ++counters_.events_relayed[type];
  }
  return std::nullopt;
}

std::optional<std::string> JobLedger::Relay(Worker& worker, wire::Call call, std::vector<Payload> payloads) {
  Job* job = FindLease(worker, call.lease);
  if (job == nullptr) return Stray(worker, call.lease, wire::Call::kType);
  if (auto lie = LieIn({wire::Call::kType, call.attempt, payloads.size(), 2}, *job)) return lie;
  if (auto lie = LieIn(call, *job)) return lie;
  NoteAttempt(*job, call.attempt);
  ++counters_.host_calls;
  counters_.host_call_bytes += BytesOf(payloads);
  job->lease->last_call = call.call;
  job->call_relayed = true;
  const wire::Answer unreachable{JobId(), call.lease, call.attempt, call.call, wire::AnswerKind::kError};
  call.id = job->id;
  call.lease = LeaseId();
  KeepCall(*job, call, payloads, config_.max_backlog_bytes);
  if (clients_.Send(*job->session, std::move(call), std::move(payloads)) == Delivery::kDropped) {
    ForgetCall(*job, unreachable.call);
    const std::vector<Payload> why = {Payload(std::string("the client is away, or reads too slowly"))};
    worker.answers.Add(unreachable, why);
    SendTo(worker, unreachable, why);
  }
  return std::nullopt;
}

std::optional<std::string> JobLedger::Finish(Worker& worker, wire::Final final, std::vector<Payload> payloads,
                                             TimePoint now) {
  Job* job = FindLease(worker, final.lease);
  if (job == nullptr) {
    log::Warn("worker sent a final for a lease that it does not hold",
              {{"worker", worker.session.str()}, {"lease", final.lease.value()}});
    return Stray(worker, final.lease, wire::Final::kType);
  }
  const bool has_receipt = MayCarryReceipt(*job, payloads);
  if (auto lie = LieIn({wire::Final::kType, final.attempt, payloads.size(), has_receipt ? 2u : 1u}, *job))
    return lie;
  if (auto lie = LieIn(final, *job)) return lie;
  // When to come again is the broker's to say: a worker could send its client away for weeks.
  final.retry_after_ms = final.ok || final.code != Code::kOverloaded
                             ? 0
                             : static_cast<std::uint32_t>(config_.retry_after.count());
  NoteAttempt(*job, final.attempt);
  const bool crashed = !final.ok && final.code == Code::kCrash && final.started;
  if (std::exchange(final.crashes, 0) > 0 || crashed) NoteCrash(*job, now);
  const bool turned_down = !final.ok && final.code == Code::kOverloaded && !final.started;
  if (turned_down && job->state == JobState::kRunning && job->bounces < kMaxBounces) {
    ++job->bounces;
    ++counters_.turned_down;
    Requeue(*job, now);
    ExpireQueued(now);  // its deadline may have passed while it waited there
  } else if (!final.ok && final.code == Code::kLost && job->state == JobState::kRunning &&
             MayRunAgain(*job, config_)) {
    Lose(*job, "the worker lost it", now);
  } else {
    if (final.ok) counters_.result_bytes += payloads[0].size();
    End(*job, JobEvent::kFinal, std::move(final), std::move(payloads), now);
  }
  Dispatch(now);
  return std::nullopt;
}

void JobLedger::Reconcile(Worker& worker, const std::vector<LeaseId>& named, TimePoint now) {
  const std::unordered_set<LeaseId> held(named.begin(), named.end());
  std::vector<Job*> unnamed;
  for (auto& [lease, job] : worker.leases()) {
    if (!held.contains(lease)) unnamed.push_back(job);
    // The CANCEL may have been lost with the link; a second one does no harm.
    if (held.contains(lease) && job->state == JobState::kCancelling)
      SendTo(worker, wire::Cancel{JobId(), lease});
  }
  SortLaterLeasesFirst(unnamed);
  for (Job* job : unnamed) Unnamed(*job, now);
  for (const LeaseId lease : held) {
    if (worker.leases().contains(lease)) continue;
    worker.revoked.Add(lease);
    SendTo(worker, wire::Cancel{JobId(), lease});
  }
  for (const AnswerKeep::Kept& kept : worker.answers.kept()) {
    if (worker.leases().contains(kept.answer.lease)) SendTo(worker, kept.answer, kept.payloads);
  }
}

void JobLedger::Unnamed(Job& job, TimePoint now) {
  // A lease that it has spoken about has reached it: that it does not know it any more means the job is lost.
  // It may have asked for this one's code on its old link, or ask yet.
  if (job.lease->code_left_out) job.lease->worker->revoked.Add(job.lease->id);
  if (job.lease->heard_of || job.state != JobState::kRunning || job.bounces >= kMaxBounces) {
    job.lease->worker->revoked.Add(job.lease->id);
    return Lose(job, "its worker does not know it any more", now);
  }
  ++job.bounces;
  Requeue(job, now);
}

void JobLedger::WorkerGone(Worker& worker, const std::string& why, TimePoint now) {
  std::vector<Job*> jobs;
  for (auto& [lease, job] : worker.leases()) jobs.push_back(job);
  SortLaterLeasesFirst(jobs);
  for (Job* job : jobs) Lose(*job, why, now);
  workers_.Erase(worker);
  Dispatch(now);
}

void JobLedger::DispatchFailed(Worker& worker, LeaseId lease, TimePoint now) {
  Job* job = FindLease(worker, lease);
  if (job != nullptr && job->state == JobState::kRunning) Requeue(*job, now);
}

void JobLedger::Lose(Job& job, const std::string& why, TimePoint now) {
  if (job.state == JobState::kCancelling) {
    JobError error = MakeError(Code::kCancelled, "cancelled; " + why);
    error.started = true;
    return EndWithError(job, JobEvent::kLost, std::move(error), now);
  }
  if (MayRunAgain(job, config_)) {
    ++job.attempt;
    job.deadline = Job::kNever;  // it has started once, which is what the deadline asked for
    ++counters_.redispatched;
    return Requeue(job, now);
  }
  JobError error = MakeError(Code::kLost, why + " after attempt " + std::to_string(job.attempt));
  // It was dispatched: whether its first line ran nobody can say any more, so nobody may rely on that it did
  // not.
  error.started = true;
  EndWithError(job, JobEvent::kLost, std::move(error), now);
}

void JobLedger::Requeue(Job& job, TimePoint now) {
  if (!Advance(job, JobEvent::kRequeue)) return;
  Release(job, 0);
  job.queued_since = now;
  queue_.PushFront(job);
}

void JobLedger::ExpireLeases(TimePoint now) {
  std::vector<Job*> late;
  for (Worker* worker : workers_.All()) {
    for (auto& [lease, job] : worker->leases()) {
      if (job->lease->deadline <= now) late.push_back(job);
    }
  }
  for (Job* job : late) {
    log::Warn("worker has not ended a lease long past its limit",
              {{"job", job->id.str()},
               {"tenant", job->account->tenant.str()},
               {"user", job->account->user.str()},
               {"worker", job->lease->worker->session.str()},
               {"lease", job->lease->id.value()},
               {"attempt", job->attempt}});
    SendTo(*job->lease->worker, wire::Cancel{JobId(), job->lease->id});
    job->lease->worker->revoked.Add(job->lease->id);
    Lose(*job, "its worker did not end it", now);
  }
  if (!late.empty()) Dispatch(now);
}

}  // namespace skerry::broker
