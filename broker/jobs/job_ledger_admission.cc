// What a SUBMIT is refused for once its fields are right, and how its client hears why.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "broker/jobs/job_ledger.h"
#include "broker/sessions/admission.h"

namespace skerry::broker {

JobError JobLedger::Overloaded(std::string message) const {
  JobError error = MakeError(Code::kOverloaded, std::move(message));
  error.retry_after_ms = static_cast<std::uint32_t>(config_.retry_after.count());
  return error;
}

bool JobLedger::HasCode(Session& session, const JobSpec& spec, std::vector<Payload>& payloads,
                        const Limits& limits, std::optional<JobError>& refused) {
  auto found = programs_.Resolve(spec.tenant, spec.code_hash, payloads[0]);
  // A client that does not know NEED leaves no code out: this is an empty program under a wrong hash.
  if (found == CodeFound::kNeeded && !session.knows_need) found = CodeFound::kWrong;
  if (found == CodeFound::kWrong) {
    refused = MakeError(Code::kValidation, "codeHash is not the SHA-256 of the code");
    return true;
  }
  const CodeWay way = found == CodeFound::kSent   ? CodeWay::kSent
                      : found == CodeFound::kKept ? CodeWay::kLeftOut
                                                  : CodeWay::kNeeded;
  ++counters_.program_submits[static_cast<std::size_t>(way)];
  if (found == CodeFound::kNeeded) {
    // As an answer to a PING: one that does not read its answers is put away, and submits all of it again.
    if (session.state == SessionState::kLinked) outbox_.Put(session.link, wire::Need{spec.id, LeaseId()});
    return false;
  }
  refused = CheckCode(payloads[0], limits);
  return true;
}

std::optional<JobLedger::Refusal> JobLedger::Check(const Session& session, const JobSpec& spec,
                                                   const std::vector<Payload>& payloads, TimePoint now) {
  if (auto refused = CheckLibraries(spec.libraries))
    return Refusal{Rejection::kValidation, *std::move(refused)};
  if (auto refused = CrashesTooOften({spec.tenant.str(), spec.code_hash, payloads[0].bytes()}, now))
    return Refusal{Rejection::kCrashes, *std::move(refused)};
  // Also where there is no room for the job now: it will come again, and without its code.
  if (spec.program) counters_.program_evictions += programs_.Keep(spec.tenant, spec.code_hash, payloads[0]);
  if (auto refused = CheckTenant(spec)) return refused;
  if (auto refused = CheckCapacity(session, spec, payloads, now)) return refused;
  return CheckRates(spec, now);
}

std::optional<JobLedger::Refusal> JobLedger::CheckTenant(const JobSpec& spec) const {
  const Share& share = tenants_.Of(spec.tenant).share;
  const std::uint64_t queued = queue_.fair().QueuedOf(spec.tenant);
  if (queued >= share.max_queued) {
    Refusal refusal{Rejection::kTenantQueue, Overloaded("tenant '" + spec.tenant.str() + "' has " +
                                                        std::to_string(queued) + " jobs queued, all it may")};
    refusal.error.limit = NameOf(PoolLimit::kMaxQueued);
    return refusal;
  }
  if (spec.admission != Admission::kFailFast) return std::nullopt;
  const std::uint64_t running = queue_.fair().RunningOf(spec.tenant);
  if (running < share.max_running) return std::nullopt;
  Refusal refusal{Rejection::kTenantBusy, Overloaded("tenant '" + spec.tenant.str() + "' runs " +
                                                     std::to_string(running) + " jobs, all it may")};
  refusal.error.limit = NameOf(PoolLimit::kMaxConcurrent);
  return refusal;
}

std::optional<JobLedger::Refusal> JobLedger::CheckRates(const JobSpec& spec, TimePoint now) {
  const TenantPolicy& policy = tenants_.Of(spec.tenant);
  const std::uint64_t executions = spec.turn_executions > 0 ? spec.turn_executions : policy.turn_executions;
  const bool counts = !spec.turn.empty() && executions > 0;
  if (counts && turns_.Of(spec.tenant, spec.turn) >= executions) {
    JobError error = MakeError(Code::kRateLimited,
                               "turn '" + spec.turn.str() + "' has had its " + std::to_string(executions) +
                                   (executions == 1 ? " execution" : " executions"),
                               std::string(NameOf(PoolLimit::kTurnBudget)));
    error.retryable = false;  // waiting does not help
    return Refusal{Rejection::kTurn, std::move(error)};
  }
  const RateDecision decision = rates_.Take(AskOf(spec.tenant, spec.user, policy), now);
  if (decision.decider == RateDecider::kRedis) ++counters_.rated_by_redis;
  if (decision.decider == RateDecider::kShare) ++counters_.rated_by_share;
  if (decision.wait) {
    const bool tenants = decision.wait->owner == RateOwner::kTenant;
    const Rate& rate = tenants ? policy.rate : policy.user_rate;
    const std::string who = tenants ? "tenant '" + spec.tenant.str() + "'" : "user '" + spec.user.str() + "'";
    JobError error = MakeError(Code::kRateLimited,
                               who + " may submit " + std::to_string(rate.per_second) + " jobs a second, " +
                                   std::to_string(rate.burst) + " at once",
                               std::string(NameOf(tenants ? PoolLimit::kRate : PoolLimit::kUserRate)));
    error.retry_after_ms = static_cast<std::uint32_t>(decision.wait->time.count());
    return Refusal{Rejection::kRate, std::move(error)};
  }
  if (counts) turns_.Count(spec.tenant, spec.turn);
  return std::nullopt;
}

std::optional<JobError> JobLedger::CheckLibraries(std::span<const std::string> libraries) const {
  if (libraries.empty() || workers_.size() == 0 || workers_.OneHasAll(libraries)) return std::nullopt;
  for (const std::string& library : libraries) {
    if (!workers_.OneHasAll({&library, 1})) return UnknownLibrary(library);
  }
  return MakeError(Code::kValidation, "no worker of this pool has all of these libraries together: " +
                                          Listed({libraries.begin(), libraries.end()}));
}

JobError JobLedger::UnknownLibrary(const std::string& name) const {
  const std::set<std::string> known = workers_.Libraries();
  std::string message = "library '" + name + "' is not known to this pool; known: " +
                        (known.empty() ? std::string("none") : Listed(known));
  if (known.empty())
    message += " (its operator adds one: --library NAME=PATH, or [libraries] of skerry.toml)";
  return MakeError(Code::kValidation, std::move(message));
}

JobError JobLedger::NeverFits(const Need& need) const {
  const std::uint64_t largest = workers_.LargestMemoryMb(need);
  if (largest == 0 && need.skill != Skill::kPlain) {
    const std::string what =
        need.skill == Skill::kPrograms ? "libraries and encoding" : "seed, clock and receipt";
    return MakeError(Code::kOverloaded, "no worker of this pool knows " + what + ": upgrade its workers");
  }
  return MakeError(Code::kOverloaded,
                   "no worker has " + std::to_string(need.memory_mb) + " MiB for a job; the largest has " +
                       std::to_string(largest) +
                       ": lower memoryMb, or give a worker more --memory-mb and --max-job-memory-mb",
                   std::string(NameOf(PoolLimit::kWorkerMemoryMb)));
}

JobLedger::Refusal JobLedger::NothingFree(const JobSpec& spec) const {
  Refusal refusal{Rejection::kNoWorker,
                  Overloaded("no worker has a free slot and " + std::to_string(spec.memory_mb) + " MiB now")};
  if (!workers_.AnyAccepting()) {
    refusal.error.message = workers_.size() == 0 ? "no worker is connected"
                                                 : "no worker takes jobs now: each is drained, or leaves";
    return refusal;
  }
  const bool slot = workers_.AnyFreeSlot();
  refusal.reason = slot ? Rejection::kNoMemory : Rejection::kNoSlot;
  refusal.error.limit = NameOf(slot ? PoolLimit::kWorkerMemoryMb : PoolLimit::kMaxConcurrentIsolates);
  return refusal;
}

std::optional<JobLedger::Refusal> JobLedger::CheckCapacity(const Session& session, const JobSpec& spec,
                                                           const std::vector<Payload>& payloads,
                                                           TimePoint now) {
  company_.Saw(spec.tenant, now);
  if (session.unfinished >= 2 * config_.client_credit) {
    return Refusal{Rejection::kCredit,
                   Overloaded("this client has " + std::to_string(session.unfinished) +
                              " unfinished jobs, its credit is " + std::to_string(config_.client_credit))};
  }
  if (session.finals.size() >= config_.max_unacked_finals ||
      session.kept.bytes() >= config_.max_unacked_bytes.count()) {
    return Refusal{Rejection::kUnread,
                   Overloaded("this client has not acknowledged " + std::to_string(session.finals.size()) +
                              " finals, " + std::to_string(session.kept.bytes() >> 20) +
                              " MiB are kept for it: read and acknowledge them")};
  }
  // One whose libraries only workers have that take no jobs now waits for these.
  const bool parks = !spec.libraries.empty() && workers_.LargestMemoryMb(NeedOf(spec)) == 0;
  if (workers_.AnyAccepting() && !parks && !workers_.CouldEverTake(NeedOf(spec))) {
    // No retryAfterMs: waiting does not help while the pool is what it is.
    return Refusal{Rejection::kNeverFits, NeverFits(NeedOf(spec))};
  }
  if (spec.admission == Admission::kFailFast &&
      (queue_.Front() != nullptr || flow_.MustWait(session) || !workers_.PickFor(NeedOf(spec)))) {
    return NothingFree(spec);
  }
  if (session.spreads && WithoutWorkers(now)) return Refusal{Rejection::kNoWorker, NoWorkers()};
  const auto shared = spec.program ? DispatchQueue::Code::kShared : DispatchQueue::Code::kOwn;
  if (!queue_.HasRoomFor(payloads[0], payloads[1], shared)) {
    return Refusal{Rejection::kQueueFull,
                   Overloaded("the queue is full (" + std::to_string(queue_.size()) + " jobs, " +
                              std::to_string(queue_.bytes() >> 20) + " MiB)")};
  }
  const auto anybody = [](const TenantId&) { return true; };
  if (company_.HasOther(spec.tenant, now, TenantCompany::kLately, anybody) &&
      !queue_.LeavesRoom(spec.tenant)) {
    return Refusal{Rejection::kQueueFull,
                   Overloaded("what is left of the queue is for other tenants: '" + spec.tenant.str() +
                              "' has " + std::to_string(queue_.fair().QueuedOf(spec.tenant)) + " of " +
                              std::to_string(queue_.size()) + " queued jobs")};
  }
  return std::nullopt;
}

JobError JobLedger::NoWorkers() const {
  return Overloaded(workers_.size() == 0 ? "no worker is connected" : "no worker takes jobs");
}

void JobLedger::GiveBack(TimePoint now) {
  if (workers_.AnyAccepting()) workers_seen_ = now;
  if (!WithoutWorkers(now)) return;
  std::vector<Job*> jobs;
  for (const Session* session : sessions_.All()) {
    // One that is away takes nothing elsewhere.
    if (!session->spreads || session->state != SessionState::kLinked) continue;
    if (session->unfinished == session->running) continue;
    for (const auto& job : session->jobs) {
      if (job->state == JobState::kQueued && job->runs_before() == 0) jobs.push_back(job.get());
    }
  }
  std::sort(jobs.begin(), jobs.end(), [](const Job* a, const Job* b) { return a->order < b->order; });
  for (Job* job : jobs) RefuseInQueue(*job, NoWorkers(), now);
}

std::optional<JobError> JobLedger::CrashesTooOften(const Program& program, TimePoint now) const {
  const auto refusal = crashes_.Check(program, now);
  if (!refusal) return std::nullopt;
  const std::string who = refusal->of == CrashRefusal::Of::kProgram
                              ? "this program of tenant '" + program.tenant + "'"
                              : "jobs of tenant '" + program.tenant + "'";
  JobError error = MakeError(
      Code::kRateLimited, who + " crashed " + std::to_string(refusal->crashes) +
                              (refusal->crashes == 1 ? " time" : " times") + " within " +
                              std::to_string(config_.crashes.window.count()) + " ms: refused for another " +
                              std::to_string(refusal->remaining.count()) + " ms");
  error.retry_after_ms = static_cast<std::uint32_t>(refusal->remaining.count());
  return error;
}

}  // namespace skerry::broker
