#include "broker/jobs/job_ledger.h"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

#include "broker/jobs/job_log.h"
#include "broker/jobs/limit_trips.h"
#include "broker/jobs/open_calls.h"
#include "broker/sessions/admission.h"
#include "common/logging.h"

namespace skerry::broker {

JobLedger::JobLedger(const BrokerConfig& config, SessionRegistry& sessions, WorkerRegistry& workers,
                     Outbox& outbox, BrokerCounters& counters, TimePoint now)
    : config_(config),
      sessions_(sessions),
      workers_(workers),
      outbox_(outbox),
      counters_(counters),
      flow_(config),
      clients_(config, outbox, flow_),
      queue_({.max_jobs = config.max_queued,
              .max_bytes = config.max_queued_bytes,
              .ageing = config.priority_ageing,
              .share_of = [this](const TenantId& tenant) { return tenants_.Of(tenant).share; }}),
      programs_(config.max_program_bytes),
      crashes_(config.crashes),
      workers_seen_(now),
      next_lease_(config.first_lease) {}

void JobLedger::Submit(Session& session, JobSpec spec, std::vector<Payload> payloads, TimePoint now) {
  const std::uint64_t fingerprint = Fingerprint(spec, payloads);
  if (Job* known = session.Find(spec.id)) return Resubmitted(session, *known, fingerprint, now);

  // Before anything that looks at what that tenant has or may have.
  if (const Proof& proof = session.link.proof; proof != nullptr && spec.tenant.str() != proof->name) {
    ++counters_.submitted;
    return Refuse(session, spec.id, Rejection::kTenant,
                  MakeError(Code::kUnauthorized, "this client's key is of tenant '" + proof->name +
                                                     "', the job of '" + spec.tenant.str() + "'"),
                  now);
  }
  auto admitted = Admit(spec, payloads, config_, tenants_.Of(spec.tenant));
  if (const auto* limits = std::get_if<Limits>(&admitted); limits != nullptr && spec.program) {
    std::optional<JobError> refused;
    if (!HasCode(session, spec, payloads, *limits, refused)) return;  // nothing of it is taken
    if (refused) admitted = *std::move(refused);
  }
  ++counters_.submitted;
  if (const auto* refused = std::get_if<JobError>(&admitted)) {
    usage_.Refused(spec.tenant, Rejection::kValidation);
    return Refuse(session, spec.id, Rejection::kValidation, *refused, now);
  }
  const Limits& limits = std::get<Limits>(admitted);
  spec.memory_mb = limits.memory_mb();
  if (const auto refused = Check(session, spec, payloads, now)) {
    usage_.Refused(spec.tenant, refused->reason);
    return Refuse(session, spec.id, refused->reason, refused->error, now);
  }
  ++counters_.accepted;
  usage_.Accepted(spec.tenant, BytesOf(payloads));

  auto owned = MakeJob(spec, limits, sessions_.shared());
  Job& job = *owned;
  job.session = &session;
  job.fingerprint = fingerprint;
  std::move(payloads.begin(), payloads.end(), job.payloads.begin());
  job.queued_since = now;
  if (job.deadline_ms > 0) job.deadline = now + Millis(job.deadline_ms);
  session.jobs.insert(std::move(owned));
  ++session.unfinished;
  clients_.Inform(session, wire::Accepted{job.id});
  queue_.Push(job);
  Dispatch(now);
}

void JobLedger::Resubmitted(Session& session, Job& known, std::uint64_t fingerprint, TimePoint now) {
  if (known.fingerprint != fingerprint) {
    ++counters_.submitted;  // it is another job, refused
    usage_.Refused(known.account->tenant, Rejection::kDuplicateId);
    return Refuse(
        session, known.id, Rejection::kDuplicateId,
        MakeError(Code::kValidation, "id '" + known.id.str() + "' was submitted before with other content"),
        now);
  }
  ++counters_.resubmitted;
  if (known.state == JobState::kEnded) {
    clients_.SendFinal(session, known);
  } else {
    clients_.Inform(session, wire::Accepted{known.id});
    // It may have died, or lost its link, between a call and its answer: without this the job would wait for
    // ever. What it is told twice it knows by the call's number.
    if (known.lease == nullptr) return;
    for (const auto& [number, call] : known.lease->open_calls) {
      if (!call.payloads.empty()) clients_.Send(session, call.header, call.payloads);
    }
  }
}

void JobLedger::NoteCrash(const Job& job, TimePoint now) {
  const auto begun = crashes_.Note(ProgramOf(job), now);
  if (begun) LogCrashRefusal(job, *begun);
}

void JobLedger::Refuse(Session& session, const JobId& id, Rejection reason, const JobError& error,
                       TimePoint now) {
  counters_.Count(reason);
  LogRejected(session, id, reason, error);
  Outcome outcome;
  outcome.error = error;
  wire::Final final = wire::ToFinal(outcome);
  final.id = id;
  CountFinal(final, counters_);
  const auto delivery = clients_.SendRefusal(session, std::move(final), Payload(wire::DetailPayload(error)));
  if (delivery == Delivery::kTaken) return;
  log::Warn("client reads none of its refusals: it is put away", {{"client", session.id.str()}});
  const auto kept = tenants_.Of(session.tenant).retention.value_or(config_.session_ttl);
  if (sessions_.GoAway(session, SessionEvent::kUnreachable, now + kept)) PutAway(session, now);
}

void JobLedger::Cancel(Session& session, const JobId& id, TimePoint now) {
  Job* job = session.Find(id);
  if (job == nullptr) return;
  if (job->state == JobState::kQueued) {
    EndWithError(*job, JobEvent::kCancel, MakeError(Code::kCancelled, "cancelled while queued"), now);
  } else if (job->state == JobState::kRunning && Advance(*job, JobEvent::kCancel)) {
    SendTo(*job->lease->worker, wire::Cancel{JobId(), job->lease->id});
  }
}

void JobLedger::Answer(Session& session, wire::Answer answer, std::vector<Payload> payloads) {
  Job* job = session.Find(answer.id);
  // An answer to a run that is over (or to an earlier attempt) has nobody left to wait for it; nor has one to
  // a call that was never made, or is answered: a worker's link is shared, and one client's answers must not
  // fill it.
  const bool awaited = job != nullptr && job->lease != nullptr && answer.attempt == job->attempt &&
                       payloads.size() <= 1 && ForgetCall(*job, answer.call);
  if (!awaited) {
    ++counters_.stray_messages;
    return;
  }
  ++counters_.host_answers;
  counters_.host_answer_bytes += BytesOf(payloads);
  answer.id = JobId();
  answer.lease = job->lease->id;
  job->lease->worker->answers.Add(answer, payloads);
  SendTo(*job->lease->worker, std::move(answer), std::move(payloads));
}

void JobLedger::Acknowledge(Session& session, const std::vector<std::string>& ids, TimePoint now) {
  for (const std::string& id : ids) {
    Job* job = session.Find(JobId(id));
    if (job != nullptr && job->state == JobState::kEnded) Forget(session, *job);
  }
  Reconsider(session);
  Dispatch(now);
}

void JobLedger::Confirm(Session& session, std::uint64_t mark, TimePoint now) {
  if (mark == 0) return;
  clients_.OnPong(session, mark);
  Reconsider(session);
  Dispatch(now);
}

void JobLedger::Resend(Session& session, std::uint64_t seen) {
  clients_.Relink(session, seen);
  for (const auto& [number, job] : session.finals) clients_.SendFinal(session, *job);
}

void JobLedger::Resume(Session& session) {
  clients_.Resume(session);
  for (const auto& [number, job] : session.finals) clients_.SendFinal(session, *job);
}

void JobLedger::Reconsider(Session& session) {
  if (!flow_.MustWait(session)) queue_.fair().Release(session);
  if (flow_.TakeRelief()) queue_.fair().ReleaseAll();
}

void JobLedger::PutAway(Session& session, TimePoint now) {
  std::vector<JobId> jobs;
  for (const auto& job : session.jobs) {
    if (job->cancel_on_disconnect && job->state != JobState::kEnded) jobs.push_back(job->id);
  }
  for (const JobId& id : jobs) Cancel(session, id, now);
}

void JobLedger::SetTenants(Tenants tenants) {
  tenants_ = std::move(tenants);
  queue_.fair().Reshare();
}

void JobLedger::Abandon(Session& session, SessionEvent why, TimePoint now) {
  sessions_.Close(session, why);
  clients_.Forget(session);
  std::vector<Job*> jobs;
  for (const auto& job : session.jobs) jobs.push_back(job.get());
  for (Job* job : jobs) {
    switch (job->state) {
      case JobState::kEnded:
        Forget(session, *job);
        break;
      case JobState::kQueued:
      case JobState::kRunning:
        Cancel(session, JobId(job->id), now);
        break;
      case JobState::kCancelling:
        break;
    }
  }
  if (flow_.TakeRelief()) queue_.fair().ReleaseAll();
  sessions_.EraseIfDone(session);
  Dispatch(now);
}

void JobLedger::ExpireQueued(TimePoint now) {
  while (Job* job = queue_.Expired(now)) {
    EndWithError(
        *job, JobEvent::kExpire,
        MakeError(Code::kExpired, "not started within deadlineMs " + std::to_string(job->deadline_ms)), now);
  }
}

void JobLedger::EndWithError(Job& job, JobEvent event, JobError error, TimePoint now) {
  Outcome outcome;
  outcome.error = std::move(error);
  outcome.attempt = job.attempt;
  End(job, event, wire::ToFinal(outcome), {Payload(wire::DetailPayload(*outcome.error))}, now);
}

void JobLedger::End(Job& job, JobEvent event, wire::Final final, std::vector<Payload> payloads,
                    TimePoint now) {
  if (job.state == JobState::kQueued) {
    queue_.Remove(job);
    job.queue_ms += MillisBetween(job.queued_since, now);
  }
  if (!Advance(job, event)) return;
  LogEnd(job, final);
  if (job.lease != nullptr) {
    const double slot_ms = MillisBetween(job.lease->since, now);
    Release(job, event == JobEvent::kFinal ? costs_.Learn(job, slot_ms) : CostModel::Of(job, slot_ms));
  }
  job.payloads = {};
  final.id = job.id;
  final.lease = LeaseId();
  final.attempt = std::max(final.attempt, job.attempt);
  CountFinal(final, counters_);
  usage_.Ended(job.account->tenant, final, BytesOf(payloads));
  counters_.queue_times.Observe(Micros(static_cast<std::int64_t>(job.queue_ms * 1000)));
  final.usage.queue_ms = job.queue_ms;
  final.usage.dropped_events += job.dropped_events;

  Session& session = *job.session;
  --session.unfinished;
  if (session.state == SessionState::kClosed) {
    session.Drop(job);
    sessions_.EraseIfDone(session);
    return;
  }
  session.final_bytes += BytesOf(payloads);
  job.end = std::make_unique<JobEnd>(JobEnd{next_final_++, std::move(final), std::move(payloads)});
  session.finals.emplace(job.end->number, &job);
  flow_.Note(session);
  clients_.SendFinal(session, job);
}

void JobLedger::Forget(Session& session, Job& job) {
  session.finals.erase(job.end->number);
  session.final_bytes -= BytesOf(job.end->payloads);
  session.Drop(job);
  flow_.Note(session);
}

}  // namespace skerry::broker
