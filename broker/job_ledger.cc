#include "broker/job_ledger.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <string>
#include <utility>

#include "broker/admission.h"
#include "broker/limit_trips.h"
#include "broker/open_calls.h"
#include "broker/retry_policy.h"

namespace skerry::broker {
namespace {

// Dispatches that workers may turn down before their client hears of it: a worker that drains while a
// dispatch is on its way costs one; more mean that it lies about its credit.
constexpr std::uint32_t kMaxBounces = 5;

bool Advance(Job& job, JobEvent event) {
  const std::optional<JobState> next = Next(job.state, event);
  if (!next) {
    spdlog::error("job {}: event {} in state {} ignored", job.spec.id.str(), NameOf(event),
                  NameOf(job.state));
    return false;
  }
  job.state = *next;
  return true;
}

}  // namespace

JobLedger::JobLedger(const BrokerConfig& config, SessionRegistry& sessions, WorkerRegistry& workers,
                     Outbox& outbox, BrokerCounters& counters)
    : config_(config),
      sessions_(sessions),
      workers_(workers),
      outbox_(outbox),
      counters_(counters),
      clients_(outbox, config.max_backlog_bytes),
      queue_(config.max_queued, config.max_queued_bytes),
      next_lease_(config.first_lease) {}

JobError JobLedger::Overloaded(std::string message) const {
  JobError error = MakeError(Code::kOverloaded, std::move(message));
  error.retry_after_ms = static_cast<std::uint32_t>(config_.retry_after.count());
  return error;
}

void JobLedger::Submit(Session& session, JobSpec spec, std::vector<Payload> payloads, TimePoint now) {
  const std::uint64_t fingerprint = Fingerprint(spec, payloads);
  if (Job* known = session.Find(spec.id)) return Resubmitted(session, *known, fingerprint);

  ++counters_.submitted;
  if (const auto refused = Admit(spec, payloads, config_)) return Refuse(session, spec.id, *refused);
  const std::uint64_t bytes = payloads[0].size() + payloads[1].size();
  if (const auto refused = CheckCapacity(session, spec, bytes)) return Refuse(session, spec.id, *refused);

  auto owned = std::make_unique<Job>();
  Job& job = *owned;
  job.session = &session;
  job.spec = std::move(spec);
  job.fingerprint = fingerprint;
  job.payloads = std::move(payloads);
  job.queued_since = now;
  if (job.spec.deadline_ms > 0) job.deadline = now + Millis(job.spec.deadline_ms);
  session.jobs.emplace(job.spec.id, std::move(owned));
  ++session.unfinished;
  clients_.SendIfLinked(session, wire::Accepted{job.spec.id});
  queue_.Push(job);
  Dispatch(now);
}

void JobLedger::Resubmitted(Session& session, Job& known, std::uint64_t fingerprint) {
  if (known.fingerprint != fingerprint) {
    return Refuse(session, known.spec.id,
                  MakeError(Code::kValidation,
                            "id '" + known.spec.id.str() + "' was submitted before with other content"));
  }
  if (known.state == JobState::kEnded) {
    clients_.SendIfLinked(session, known.final, {known.final_payload});
  } else {
    clients_.SendIfLinked(session, wire::Accepted{known.spec.id});
    // It may have died, or lost its link, between a call and its answer: without this the job would wait for
    // ever.
    for (const auto& [number, call] : known.open_calls)
      clients_.SendIfLinked(session, call.header, call.payloads);
  }
}

JobError JobLedger::NeverFits(const JobSpec& spec) const {
  return MakeError(Code::kOverloaded,
                   "no worker has " + std::to_string(spec.memory_mb) + " MiB for a job; the largest has " +
                       std::to_string(workers_.LargestMemoryMb()) +
                       ": lower memoryMb, or give a worker more --memory-mb",
                   "memoryMb");
}

std::optional<JobError> JobLedger::CheckCapacity(const Session& session, const JobSpec& spec,
                                                 std::uint64_t bytes) {
  if (session.unfinished >= 2 * config_.client_credit) {
    return Overloaded("this client has " + std::to_string(session.unfinished) +
                      " unfinished jobs, its credit is " + std::to_string(config_.client_credit));
  }
  if (workers_.AnyAccepting() && !workers_.CouldEverTake(spec.memory_mb)) {
    // No retryAfterMs: waiting does not help while the pool is what it is.
    return NeverFits(spec);
  }
  if (spec.admission == Admission::kFailFast && !(queue_.empty() && workers_.PickFor(spec.memory_mb))) {
    return Overloaded("no worker has a free slot and " + std::to_string(spec.memory_mb) + " MiB now");
  }
  if (!queue_.HasRoomFor(bytes)) {
    return Overloaded("the queue is full (" + std::to_string(queue_.size()) + " jobs, " +
                      std::to_string(queue_.bytes() >> 20) + " MiB)");
  }
  return std::nullopt;
}

void JobLedger::Refuse(Session& session, const JobId& id, const JobError& error) {
  Outcome outcome;
  outcome.error = error;
  wire::Final final = wire::ToFinal(outcome);
  final.id = id;
  CountFinal(final, JobSpec{}, counters_);
  clients_.SendIfLinked(session, std::move(final), {Payload(wire::DetailPayload(error))});
}

void JobLedger::Cancel(Session& session, const JobId& id, TimePoint now) {
  Job* job = session.Find(id);
  if (job == nullptr) return;
  if (job->state == JobState::kQueued) {
    EndWithError(*job, JobEvent::kCancel, MakeError(Code::kCancelled, "cancelled while queued"), now);
  } else if (job->state == JobState::kRunning && Advance(*job, JobEvent::kCancel)) {
    outbox_.Put(job->worker->link, wire::Cancel{JobId(), job->lease});
  }
}

void JobLedger::Answer(Session& session, wire::Answer answer, std::vector<Payload> payloads) {
  Job* job = session.Find(answer.id);
  // An answer to a run that is over (or to an earlier attempt) has nobody left to wait for it.
  if (job == nullptr || job->worker == nullptr || answer.attempt != job->attempt) return;
  ForgetCall(*job, answer.call);
  answer.id = JobId();
  answer.lease = job->lease;
  outbox_.Put(job->worker->link, std::move(answer), std::move(payloads));
}

void JobLedger::Acknowledge(Session& session, const std::vector<std::string>& ids) {
  for (const std::string& id : ids) {
    Job* job = session.Find(JobId(id));
    if (job != nullptr && job->state == JobState::kEnded) Forget(session, *job);
  }
}

void JobLedger::Resend(Session& session) {
  clients_.Flush(session);
  for (const auto& [number, job] : session.finals)
    clients_.SendIfLinked(session, job->final, {job->final_payload});
}

void JobLedger::Abandon(Session& session, TimePoint now) {
  sessions_.Close(session);
  clients_.Forget(session);
  std::vector<Job*> jobs;
  for (auto& [id, job] : session.jobs) jobs.push_back(job.get());
  for (Job* job : jobs) {
    switch (job->state) {
      case JobState::kEnded:
        Forget(session, *job);
        break;
      case JobState::kQueued:
      case JobState::kRunning:
        Cancel(session, JobId(job->spec.id), now);
        break;
      case JobState::kCancelling:
        break;
    }
  }
  sessions_.EraseIfDone(session);
  Dispatch(now);
}

Job* JobLedger::FindLease(Worker& worker, LeaseId lease) {
  const auto found = worker.leases.find(lease);
  return found == worker.leases.end() ? nullptr : found->second;
}

void JobLedger::Relay(Worker& worker, wire::Event event, std::vector<Payload> payloads) {
  Job* job = FindLease(worker, event.lease);
  if (job == nullptr) return;
  NoteAttempt(*job, event.attempt);
  event.id = job->spec.id;
  event.lease = LeaseId();
  if (clients_.SendOrKeep(*job->session, std::move(event), std::move(payloads)) == Delivery::kDropped) {
    ++job->dropped_events;
    ++counters_.dropped_events;
  }
}

void JobLedger::Relay(Worker& worker, wire::Call call, std::vector<Payload> payloads) {
  Job* job = FindLease(worker, call.lease);
  if (job == nullptr) return;
  NoteAttempt(*job, call.attempt);
  job->call_relayed = true;
  const wire::Answer unreachable{JobId(), call.lease, call.attempt, call.call, wire::AnswerKind::kError};
  call.id = job->spec.id;
  call.lease = LeaseId();
  KeepCall(*job, call, payloads, config_.max_backlog_bytes);
  if (clients_.SendOrKeep(*job->session, std::move(call), std::move(payloads)) == Delivery::kDropped) {
    ForgetCall(*job, unreachable.call);
    outbox_.Put(worker.link, unreachable, {Payload(std::string("the client is away"))});
  }
}

void JobLedger::NoteAttempt(Job& job, std::uint32_t attempt) {
  if (attempt <= job.attempt) return;
  job.attempt = attempt;
  ForgetCalls(job);
}

void JobLedger::Undelivered(Session& session, Send send) {
  const auto* event = std::get_if<wire::Event>(&send.header);
  if (event == nullptr && !std::holds_alternative<wire::Call>(send.header)) return;
  Job* job = event != nullptr ? session.Find(event->id) : nullptr;
  if (clients_.SendOrKeep(session, std::move(send.header), std::move(send.payloads)) == Delivery::kTaken)
    return;
  ++counters_.dropped_events;
  if (job != nullptr) ++job->dropped_events;
}

void JobLedger::Finish(Worker& worker, wire::Final final, std::vector<Payload> payloads, TimePoint now) {
  Job* job = FindLease(worker, final.lease);
  if (job == nullptr) {
    ++counters_.stray_finals;
    spdlog::warn("worker {} sent a final for lease {}, which it does not hold", worker.session.str(),
                 final.lease.value());
    return;
  }
  // A run that the worker repeated by itself is the one repetition that `safe` allows.
  if (final.attempt > job->attempt) job->redispatches += final.attempt - job->attempt;
  job->attempt = std::max(job->attempt, final.attempt);
  const bool turned_down = !final.ok && final.code == Code::kOverloaded && !final.started;
  if (turned_down && job->state == JobState::kRunning && job->bounces < kMaxBounces) {
    ++job->bounces;
    Requeue(*job, now);
  } else if (!final.ok && final.code == Code::kLost && job->state == JobState::kRunning &&
             MayRunAgain(*job, config_)) {
    Lose(*job, "the worker lost it", now);
  } else {
    Payload payload = payloads.empty() ? Payload(std::string()) : std::move(payloads[0]);
    End(*job, JobEvent::kFinal, std::move(final), std::move(payload), now);
  }
  Dispatch(now);
}

void JobLedger::WorkerGone(Worker& worker, TimePoint now) {
  // The record goes last, but takes no job from here on.
  worker.draining = true;
  std::vector<Job*> jobs;
  for (auto& [lease, job] : worker.leases) jobs.push_back(job);
  // Later leases first, so that requeueing at the front keeps their order.
  std::sort(jobs.begin(), jobs.end(), [](const Job* a, const Job* b) { return a->lease > b->lease; });
  for (Job* job : jobs) Lose(*job, "its worker went away", now);
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
    ++job.redispatches;
    ++job.attempt;
    job.deadline.reset();  // it has started once, which is what the deadline asked for
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
  ForgetCalls(job);
  workers_.Release(job);
  job.queued_since = now;
  queue_.PushFront(job);
}

void JobLedger::Dispatch(TimePoint now) {
  while (Job* job = queue_.Front()) {
    if (Worker* worker = workers_.PickFor(job->spec.memory_mb)) {
      SendDispatch(*job, *worker, now);
      continue;
    }
    if (!workers_.AnyAccepting() || workers_.CouldEverTake(job->spec.memory_mb)) return;
    EndWithError(*job, JobEvent::kRefuse, NeverFits(job->spec), now);
  }
}

void JobLedger::SendDispatch(Job& job, Worker& worker, TimePoint now) {
  queue_.Remove(job);
  if (!Advance(job, JobEvent::kDispatch)) return;
  job.queue_ms += MillisBetween(job.queued_since, now);
  job.lease = LeaseId(next_lease_++);
  job.lease_deadline = now + LeaseTime(job, config_);
  workers_.Take(worker, job);
  ++counters_.dispatched;
  wire::Dispatch dispatch;
  dispatch.lease = job.lease;
  dispatch.session = job.session->id;
  dispatch.attempt = job.attempt;
  dispatch.job = job.spec;
  outbox_.Put(worker.link, std::move(dispatch), job.payloads);
}

void JobLedger::ExpireQueued(TimePoint now) {
  while (Job* job = queue_.Expired(now)) {
    EndWithError(
        *job, JobEvent::kExpire,
        MakeError(Code::kExpired, "not started within deadlineMs " + std::to_string(job->spec.deadline_ms)),
        now);
  }
}

void JobLedger::ExpireLeases(TimePoint now) {
  std::vector<Job*> late;
  for (Worker* worker : workers_.All()) {
    for (auto& [lease, job] : worker->leases) {
      if (job->lease_deadline <= now) late.push_back(job);
    }
  }
  for (Job* job : late) {
    spdlog::warn("worker {} has not ended lease {} long past its limit", job->worker->session.str(),
                 job->lease.value());
    outbox_.Put(job->worker->link, wire::Cancel{JobId(), job->lease});
    Lose(*job, "its worker did not end it", now);
  }
  if (!late.empty()) Dispatch(now);
}

void JobLedger::EndWithError(Job& job, JobEvent event, JobError error, TimePoint now) {
  Outcome outcome;
  outcome.error = std::move(error);
  outcome.attempt = job.attempt;
  End(job, event, wire::ToFinal(outcome), Payload(wire::DetailPayload(*outcome.error)), now);
}

void JobLedger::End(Job& job, JobEvent event, wire::Final final, Payload payload, TimePoint now) {
  if (job.state == JobState::kQueued) {
    queue_.Remove(job);
    job.queue_ms += MillisBetween(job.queued_since, now);
  }
  if (!Advance(job, event)) return;
  workers_.Release(job);
  ForgetCalls(job);
  job.payloads.clear();
  final.id = job.spec.id;
  final.lease = LeaseId();
  final.attempt = std::max(final.attempt, job.attempt);
  final.usage.queue_ms = job.queue_ms;
  final.usage.dropped_events += job.dropped_events;
  CountFinal(final, job.spec, counters_);

  Session& session = *job.session;
  --session.unfinished;
  if (session.state == SessionState::kClosed) {
    session.jobs.erase(JobId(job.spec.id));
    sessions_.EraseIfDone(session);
    return;
  }
  job.final = std::move(final);
  job.final_payload = std::move(payload);
  clients_.SendIfLinked(session, job.final, {job.final_payload});
  KeepFinal(session, job);
}

void JobLedger::KeepFinal(Session& session, Job& job) {
  job.final_number = next_final_++;
  session.finals.emplace(job.final_number, &job);
  session.final_bytes += job.final_payload.size();
  while (session.finals.size() > config_.max_unacked_finals ||
         (session.final_bytes > config_.max_unacked_bytes.count() && session.finals.size() > 1)) {
    spdlog::warn("client {} does not acknowledge its finals; the oldest is forgotten", session.id.str());
    Forget(session, *session.finals.begin()->second);
  }
}

void JobLedger::Forget(Session& session, Job& job) {
  session.finals.erase(job.final_number);
  session.final_bytes -= job.final_payload.size();
  session.jobs.erase(JobId(job.spec.id));
}

}  // namespace skerry::broker
