// The life of every job in the broker: submitted, queued, dispatched, relayed, ended, acknowledged.
//
// Every accepted job gets exactly one final, whatever its client and its workers do; job_state.h has the
// drawing.
//
// Ownership: borrows registries, outbox and counters from BrokerCore, which outlive it. Threads: the core's.
// Errors: a job that cannot be taken is answered with a FINAL; nothing here fails otherwise.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "broker/client_link.h"
#include "broker/config.h"
#include "broker/counters.h"
#include "broker/dispatch_queue.h"
#include "broker/job.h"
#include "broker/outbox.h"
#include "broker/session_registry.h"
#include "broker/worker_registry.h"

namespace skerry::broker {

class JobLedger {
 public:
  JobLedger(const BrokerConfig& config, SessionRegistry& sessions, WorkerRegistry& workers, Outbox& outbox,
            BrokerCounters& counters);

  // From clients.
  void Submit(Session& session, JobSpec spec, std::vector<Payload> payloads, TimePoint now);
  void Cancel(Session& session, const JobId& id, TimePoint now);
  void Answer(Session& session, wire::Answer answer, std::vector<Payload> payloads);
  void Acknowledge(Session& session, const std::vector<std::string>& ids);
  /// The client is back: what it missed, then its unacknowledged finals.
  void Resend(Session& session);
  /// The client is gone for good. `session` may be freed.
  void Abandon(Session& session, TimePoint now);

  // From workers.
  void Relay(Worker& worker, wire::Event event, std::vector<Payload> payloads);
  void Relay(Worker& worker, wire::Call call, std::vector<Payload> payloads);
  void Finish(Worker& worker, wire::Final final, std::vector<Payload> payloads, TimePoint now);
  /// The worker is gone: its jobs run elsewhere or are LOST. Its record is erased.
  void WorkerGone(Worker& worker, TimePoint now);
  /// A DISPATCH that never left: its job has certainly not started and waits again.
  void DispatchFailed(Worker& worker, LeaseId lease, TimePoint now);

  /// Could not be delivered: an EVENT or CALL is kept for the client's return.
  void Undelivered(Session& session, Send send);

  /// Fills free slots from the queue.
  void Dispatch(TimePoint now);
  /// Queue deadlines that have passed.
  void ExpireQueued(TimePoint now);
  /// Leases far past their wall clock limit: the worker answers PINGs but has lost the job.
  void ExpireLeases(TimePoint now);

  const DispatchQueue& queue() const { return queue_; }

 private:
  Job* FindLease(Worker& worker, LeaseId lease);
  /// OVERLOADED for a job that no worker of this pool could ever run.
  JobError NeverFits(const JobSpec& spec) const;
  void Resubmitted(Session& session, Job& known, std::uint64_t fingerprint);
  std::optional<JobError> CheckCapacity(const Session& session, const JobSpec& spec, std::uint64_t bytes);
  void Refuse(Session& session, const JobId& id, const JobError& error);
  void SendDispatch(Job& job, Worker& worker, TimePoint now);
  void Requeue(Job& job, TimePoint now);
  void NoteAttempt(Job& job, std::uint32_t attempt);
  /// The job's worker is gone or gave it up: run it again where that is allowed, else LOST.
  void Lose(Job& job, const std::string& why, TimePoint now);
  void EndWithError(Job& job, JobEvent event, JobError error, TimePoint now);
  /// The one place where a job ends. `job` may be freed.
  void End(Job& job, JobEvent event, wire::Final final, Payload payload, TimePoint now);
  void KeepFinal(Session& session, Job& job);
  void Forget(Session& session, Job& job);
  JobError Overloaded(std::string message) const;

  const BrokerConfig& config_;
  SessionRegistry& sessions_;
  WorkerRegistry& workers_;
  Outbox& outbox_;
  BrokerCounters& counters_;
  ClientLink clients_;
  DispatchQueue queue_;
  std::uint64_t next_lease_;
  std::uint64_t next_final_ = 1;
};

}  // namespace skerry::broker
