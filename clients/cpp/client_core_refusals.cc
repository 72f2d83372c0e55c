// Jobs that were refused for a reason that passes: they wait here, and come again.
#include <algorithm>
#include <utility>

#include "clients/cpp/client_core.h"
#include "clients/cpp/ended.h"
#include "common/pool_limits.h"

namespace skerry::client {
namespace {

// A thousand jobs that wait for one broker must not all come each time that it says to ask again: some do,
// and twice as many when these have been taken.
constexpr std::size_t kFirstBurst = 16;
constexpr Millis kBetweenBursts{50};
// Refusals that are further apart than this, past what the first told to wait, are two.
constexpr Millis kRefusalGap{2'000};
constexpr const char* kNoRoom = "no broker has taken it so far: its queue was full, or it had no worker";

}  // namespace

/// False: it ends with this final.
bool ClientCore::WaitsOut(Job& job, const wire::Final& final, TimePoint now) {
  if (final.ok || final.started || job.cancelled) return false;
  const Millis wait(final.retry_after_ms);
  const bool overloaded = final.code == Code::kOverloaded && wait > Millis(0);
  // One that names a limit is about this job's tenant, and says nothing of others.
  const bool room = overloaded && final.limit.empty();
  if (room) NoteRefusal(now + wait, now);
  if (job.spec.admission != Admission::kQueue) return false;
  if (room && standing_ == Standing::kOneOfSeveral) {
    WaitForRoom(job, now + wait, now);
    return true;
  }
  if (overloaded) {
    WaitUntil(job, now + wait, kNoRoom);
    return true;
  }
  if (!WaitsForRate(final.code, final.limit, final.retry_after_ms)) return false;
  const bool users = final.limit == NameOf(PoolLimit::kUserRate);
  const std::string who = job.spec.tenant.str() + '\0' + (users ? job.spec.user.str() : "");
  WaitUntil(job, pace_.DueOf(who, wait, now),
            users ? "its user's rate is used up" : "its tenant's rate is used up");
  return true;
}

void ClientCore::NoteRefusal(TimePoint until, TimePoint now) {
  if (!refuses_since_ || now - refuses_until_ > kRefusalGap) refuses_since_ = now;
  refuses_until_ = std::max(refuses_until_, until);
  burst_ = kFirstBurst;
}

/// Its refusal is dealt with here.
void ClientCore::WaitUntil(Job& job, TimePoint due, const char* why) {
  NoteAcknowledged(job.spec.id);
  if (!HasTimeLeft(job, due, why)) return;
  job.stage = JobStage::kWaiting;
  retries_.emplace(due, job.spec.id);
}

/// Its deadline is what is left of it then. False: nothing is, and it has ended.
bool ClientCore::HasTimeLeft(Job& job, TimePoint at, const std::string& why) {
  if (job.deadline_ms == 0) return true;
  const auto spent = std::chrono::duration_cast<Millis>(at - job.submitted_at).count();
  if (static_cast<std::uint64_t>(spent) < job.deadline_ms) {
    job.spec.deadline_ms = job.deadline_ms - static_cast<std::uint64_t>(spent);
    return true;
  }
  const std::string deadline = "deadlineMs " + std::to_string(job.deadline_ms);
  if (job.sent_before == 0) {
    Finish(job, Ended(Code::kExpired, "not started within " + deadline + ": " + why, job.attempt));
    return false;
  }
  // That it has not started in time nobody can say.
  Outcome lost =
      Ended(Code::kLost,
            "its broker could not be reached, and its " + deadline + " passed meanwhile; it may have run",
            job.attempt);
  lost.error->started = true;
  Finish(job, std::move(lost));
  return false;
}

/// Others may have room before this broker is to be asked again: until its deadline it waits.
void ClientCore::WaitForRoom(Job& job, TimePoint due, TimePoint now) {
  NoteAcknowledged(job.spec.id);
  if (!HasTimeLeft(job, now, kNoRoom)) return;
  job.stage = JobStage::kWaiting;
  refused_.emplace(job.number, job.spec.id);
  LookAgain(job, due, now);
}

/// When it may come again, or when its time is up.
void ClientCore::LookAgain(const Job& job, TimePoint due, TimePoint now) {
  const auto wait = static_cast<std::uint64_t>(std::chrono::ceil<Millis>(due - now).count());
  const bool ends_before = job.deadline_ms > 0 && job.spec.deadline_ms < wait;
  retries_.emplace(ends_before ? now + Millis(job.spec.deadline_ms) : due, job.spec.id);
}

void ClientCore::SubmitDueAgain(TimePoint now) {
  std::vector<Job*> later;
  std::size_t sent = 0;
  while (!retries_.empty() && retries_.begin()->first <= now) {
    Job* job = Find(retries_.begin()->second);
    retries_.erase(retries_.begin());
    if (job == nullptr || job->stage != JobStage::kWaiting) continue;
    if (refused_.contains(job->number)) {
      if (!HasTimeLeft(*job, now, kNoRoom)) continue;
      if (Refuses(now) || sent == burst_) {
        later.push_back(job);
        continue;
      }
      ++sent;
    }
    SendJob(*job);
  }
  if (sent > 0) burst_ *= 2;
  for (const Job* job : later) LookAgain(*job, std::max(now + kBetweenBursts, refuses_until_), now);
}

std::vector<JobId> ClientCore::Refused() const {
  std::vector<JobId> ids;
  ids.reserve(refused_.size());
  for (const auto& [number, id] : refused_) {
    const Job& job = jobs_.at(id);
    const bool may = !job.resent || (!job.cancelled && AllowsAnotherRun(job.spec.retry, !job.calls.empty()));
    if (may) ids.push_back(id);
  }
  return ids;
}

ClientCore::Job ClientCore::TakeRefused(const JobId& id, TimePoint now) {
  Job job = TakeOut(jobs_.find(id));
  // Submitted again behind a WELCOME, and refused before that or then: in the first case it may be there now.
  if (const auto left = withdrawn_.find(id); left != withdrawn_.end() && job.resent) {
    left->second.told = now;
    if (link_ == LinkState::kLinked) Put(wire::Cancel{id, LeaseId()});
  }
  return job;
}

}  // namespace skerry::client
