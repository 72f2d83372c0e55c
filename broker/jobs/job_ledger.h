// The life of every job in the broker: submitted, queued, dispatched, relayed, ended, acknowledged.
//
// Every accepted job gets exactly one final, whatever its client and its workers do; job_state.h has the
// drawing. job_ledger.cc has the clients' side and the ends, job_ledger_admission.cc what is refused and why,
// job_ledger_dispatch.cc how jobs and their code get to workers, job_ledger_leases.cc what happens between
// dispatch and end.
//
// Ownership: borrows registries, outbox and counters from BrokerCore, which outlive it. Threads: the core's.
// Errors: a job that cannot be taken is answered with a FINAL; nothing here fails otherwise.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "broker/config.h"
#include "broker/jobs/code_store.h"
#include "broker/jobs/crash_watch.h"
#include "broker/jobs/job.h"
#include "broker/metrics/counters.h"
#include "broker/outbox.h"
#include "broker/queue/cost_model.h"
#include "broker/queue/dispatch_queue.h"
#include "broker/queue/tenant_company.h"
#include "broker/sessions/client_link.h"
#include "broker/sessions/flow_control.h"
#include "broker/sessions/session_registry.h"
#include "broker/tenants/tenant_rates.h"
#include "broker/tenants/tenant_usage.h"
#include "broker/tenants/tenants.h"
#include "broker/tenants/turn_budget.h"
#include "broker/workers/worker_registry.h"

namespace skerry::broker {

class JobLedger {
 public:
  JobLedger(const BrokerConfig& config, SessionRegistry& sessions, WorkerRegistry& workers, Outbox& outbox,
            BrokerCounters& counters, TimePoint now);

  /// A client that has other brokers is refused what no worker is there for, once none has been for so long.
  static constexpr Millis kWithoutWorkers{3'000};

  // From clients.
  void Submit(Session& session, JobSpec spec, std::vector<Payload> payloads, TimePoint now);
  void Cancel(Session& session, const JobId& id, TimePoint now);
  void Answer(Session& session, wire::Answer answer, std::vector<Payload> payloads);
  void Acknowledge(Session& session, const std::vector<std::string>& ids, TimePoint now);
  /// A PONG: what was on its way before `mark` has been read.
  void Confirm(Session& session, std::uint64_t mark, TimePoint now);
  void Ping(Session& session) { clients_.Ping(session); }
  /// The client is back: what it has not seen, then its unacknowledged finals.
  void Resend(Session& session, std::uint64_t seen);
  /// The client has greeted again on the link that it has.
  void Resume(Session& session);
  /// The client's link is lost: jobs that were not to outlive it are cancelled.
  void PutAway(Session& session, TimePoint now);
  /// The client is gone for good. `session` may be freed.
  void Abandon(Session& session, SessionEvent why, TimePoint now);

  // From workers. What they return is a lie: the worker is to be cut off for it.
  std::optional<std::string> Relay(Worker& worker, wire::Event event, std::vector<Payload> payloads);
  std::optional<std::string> Relay(Worker& worker, wire::Call call, std::vector<Payload> payloads);
  std::optional<std::string> Finish(Worker& worker, wire::Final final, std::vector<Payload> payloads,
                                    TimePoint now);
  /// The worker has not the code of a job that it was dispatched without: it has kept nothing of the job, and
  /// gets all of it now.
  std::optional<std::string> SendCode(Worker& worker, const wire::Need& need, std::size_t payloads,
                                      TimePoint now);
  /// The worker is back on a new link and names the leases it holds: those that it does not name never
  /// reached it and wait again, and what it names in vain is cancelled.
  void Reconcile(Worker& worker, const std::vector<LeaseId>& named, TimePoint now);
  /// The worker is gone or cut off: its jobs run elsewhere or are LOST. Its record is erased.
  void WorkerGone(Worker& worker, const std::string& why, TimePoint now);
  /// A DISPATCH that never left: its job has certainly not started and waits again.
  void DispatchFailed(Worker& worker, LeaseId lease, TimePoint now);

  /// A worker has come: jobs that wait for what it has are looked at again.
  void Unpark();
  /// Fills free slots from the queue.
  void Dispatch(TimePoint now);
  /// Queue deadlines that have passed.
  void ExpireQueued(TimePoint now);
  /// Leases far past their wall clock limit: the worker answers PINGs but has lost the job.
  void ExpireLeases(TimePoint now);
  /// What has not begun, and could begin at another broker of its client's, where no worker is here.
  void GiveBack(TimePoint now);

  /// What tenants may have from now on; what they have stays.
  void SetTenants(Tenants tenants);
  const Tenants& tenants() const { return tenants_; }
  TenantRates& rates() { return rates_; }
  const TenantRates& rates() const { return rates_; }

  const DispatchQueue& queue() const { return queue_; }
  /// Kept for clients: finals, events and calls.
  const KeptForClient& kept() const { return flow_.kept(); }
  std::uint64_t program_bytes() const { return programs_.bytes(); }
  const UsageBook& usage() const { return usage_; }

 private:
  Job* FindLease(Worker& worker, LeaseId lease);
  /// A message about a lease that the worker does not hold: late, or a lie.
  std::optional<std::string> Stray(Worker& worker, LeaseId lease, std::string_view type);
  void NoteAttempt(Job& job, std::uint32_t attempt);
  /// It runs no more, and has cost this.
  void Release(Job& job, std::uint64_t cost_us);
  void SendTo(Worker& worker, wire::Header header, std::vector<Payload> payloads = {});
  /// A lease that its worker does not name in its HELLO.
  void Unnamed(Job& job, TimePoint now);
  /// Whether the job would hold the last place for long, while a tenant that has nothing here was here a
  /// moment ago: who sends its next job once it has its results would find none (docs/decisions/0021).
  bool MustLeaveAPlace(const Job& job, Worker& worker, std::uint64_t cost_us, TimePoint now);
  /// Whether the job's line may go on being looked past, as its memory is nowhere free now.
  bool MayBePassed(Job& job, TimePoint now);
  /// Its session has let go of something: its jobs may have their turn again.
  void Reconsider(Session& session);
  /// OVERLOADED for a job that no worker of this pool could ever run.
  JobError NeverFits(const Need& need) const;
  void Resubmitted(Session& session, Job& known, std::uint64_t fingerprint, TimePoint now);
  struct Refusal {
    Rejection reason;
    JobError error;
  };
  /// Of a job that is admitted: what else can be wrong with it.
  std::optional<Refusal> Check(const Session& session, const JobSpec& spec,
                               const std::vector<Payload>& payloads, TimePoint now);
  std::optional<Refusal> CheckCapacity(const Session& session, const JobSpec& spec,
                                       const std::vector<Payload>& payloads, TimePoint now);
  bool WithoutWorkers(TimePoint now) const {
    return !workers_.AnyAccepting() && now - workers_seen_ >= kWithoutWorkers;
  }
  JobError NoWorkers() const;
  /// Of a job that nothing else speaks against: it counts in its rates and its turn where this is none.
  std::optional<Refusal> CheckRates(const JobSpec& spec, TimePoint now);
  /// What its tenant may have.
  std::optional<Refusal> CheckTenant(const JobSpec& spec) const;
  /// VALIDATION for a job whose libraries no worker that is connected has.
  std::optional<JobError> CheckLibraries(std::span<const std::string> libraries) const;
  JobError UnknownLibrary(const std::string& name) const;
  /// Finds or verifies the code of a program. False: it must be asked for; else why the job is refused, if it
  /// is.
  bool HasCode(Session& session, const JobSpec& spec, std::vector<Payload>& payloads, const Limits& limits,
               std::optional<JobError>& refused);
  /// First in line, and no worker that takes jobs could ever run it.
  void NoWorkerFor(Job& job, TimePoint now);
  /// Of a failFast job for which nothing is free now.
  Refusal NothingFree(const JobSpec& spec) const;
  /// RATE_LIMITED for a job whose program or tenant keeps crashing.
  std::optional<JobError> CrashesTooOften(const Program& program, TimePoint now) const;
  /// Of a job whose turn has come.
  void RefuseInQueue(Job& job, JobError error, TimePoint now);
  void NoteCrash(const Job& job, TimePoint now);
  void Refuse(Session& session, const JobId& id, Rejection reason, const JobError& error, TimePoint now);
  void SendDispatch(Job& job, Worker& worker, std::uint64_t cost_us, TimePoint now);
  void SayDispatch(Job& job, Worker& worker);
  void Requeue(Job& job, TimePoint now);
  /// The job's worker is gone or gave it up: run it again where that is allowed, else LOST.
  void Lose(Job& job, const std::string& why, TimePoint now);
  void EndWithError(Job& job, JobEvent event, JobError error, TimePoint now);
  /// The one place where a job ends. `job` may be freed.
  void End(Job& job, JobEvent event, wire::Final final, std::vector<Payload> payloads, TimePoint now);
  void Forget(Session& session, Job& job);
  JobError Overloaded(std::string message) const;

  const BrokerConfig& config_;
  SessionRegistry& sessions_;
  WorkerRegistry& workers_;
  Outbox& outbox_;
  BrokerCounters& counters_;
  FlowControl flow_;
  ClientLink clients_;
  Tenants tenants_;  // before the queue, which asks it
  DispatchQueue queue_;
  TenantCompany company_;
  CodeStore programs_;
  CostModel costs_;
  TenantRates rates_;
  TurnBudget turns_;
  UsageBook usage_;
  CrashWatch crashes_;
  TimePoint workers_seen_;  // that take jobs, or when we began
  std::uint64_t next_lease_;
  std::uint64_t next_final_ = 1;
};

}  // namespace skerry::broker
