// Jobs that go on with another broker, and what becomes of them at the first.
#include <algorithm>
#include <utility>

#include "clients/cpp/client_core.h"
#include "clients/cpp/ended.h"

namespace skerry::client {
namespace {

// A cancelled job ends within 50 ms of being cancelled; what is not heard of for so long never reached the
// broker.
constexpr Millis kCancelTakes{5'000};
// Entries of some 100 bytes. A broker keeps fewer jobs for one client.
constexpr std::size_t kMostWithdrawn = 65'536;

}  // namespace

std::vector<ClientCore::Job> ClientCore::Withdraw(Scope scope) {
  std::vector<JobId> ids;
  for (const auto& [id, job] : jobs_) {
    const bool unsent = job.stage != JobStage::kSent;
    const bool may = scope == Scope::kMayRunAgain && !job.cancelled &&
                     AllowsAnotherRun(job.spec.retry, !job.calls.empty());
    if (unsent || may) ids.push_back(id);
  }
  std::vector<Job> jobs;
  for (const JobId& id : ids) {
    const auto found = jobs_.find(id);
    ReleaseCode(found->second);
    if (found->second.stage == JobStage::kSent && withdrawn_.size() < kMostWithdrawn)
      withdrawn_[id] = TimePoint::max();
    if (found->second.noticed) events_.emplace_back(JobRestarted{id});
    jobs.push_back(std::move(found->second));
    jobs_.erase(found);
  }
  std::sort(jobs.begin(), jobs.end(),
            [](const Job& a, const Job& b) { return a.submitted_at < b.submitted_at; });
  return jobs;
}

/// Takes a job that was out of this core's hands in, and nothing else.
ClientCore::Job& ClientCore::TakeIn(Job job) {
  const JobId id = job.spec.id;
  withdrawn_.erase(id);
  job.number = next_number_++;
  job.attempt = 1;
  job.noticed = job.carried = job.needed = job.must_carry = false;
  job.calls.clear();
  if (job.shares_code) {
    SharedCode& shared = shared_[job.spec.code_hash];
    if (shared.jobs++ == 0) {
      shared.text = job.code;
      bytes_in_flight_ += shared.text->size();
    }
  }
  bytes_in_flight_ += job.own_bytes();
  return jobs_.insert_or_assign(id, std::move(job)).first->second;
}

void ClientCore::TakeBackCancelled(Job job) {
  job.cancelled = true;
  Job& taken = TakeIn(std::move(job));
  if (link_ == LinkState::kLinked) SendJob(taken);
}

void ClientCore::Adopt(Job job, TimePoint now) {
  job.stage = JobStage::kUnsent;
  Job& taken = TakeIn(std::move(job));
  if (taken.deadline_ms > 0) {
    const auto spent = std::chrono::duration_cast<Millis>(now - taken.submitted_at).count();
    if (static_cast<std::uint64_t>(spent) >= taken.deadline_ms) {
      return Finish(taken, Ended(Code::kExpired,
                                 "not started within deadlineMs " + std::to_string(taken.deadline_ms) +
                                     ": its broker could not be reached",
                                 1));
    }
    taken.spec.deadline_ms = taken.deadline_ms - static_cast<std::uint64_t>(spent);
  }
  if (link_ == LinkState::kLinked) SendJob(taken);
}

void ClientCore::LoseJobs(const std::string& why) {
  while (!jobs_.empty()) {
    Job& job = jobs_.begin()->second;
    Outcome end = job.cancelled ? Ended(Code::kCancelled, "cancelled, but " + why, job.attempt)
                                : Ended(Code::kLost, why, job.attempt);
    end.error->started = true;  // nobody may rely on that it did not
    Finish(job, std::move(end));
  }
}

bool ClientCore::Remembers(const JobId& id, TimePoint now) const {
  const auto found = withdrawn_.find(id);
  if (found == withdrawn_.end()) return false;
  return found->second == TimePoint::max() || now - found->second < kCancelTakes;
}

/// Behind the WELCOME of a broker that was given up: it goes on with nothing that is another's by now.
void ClientCore::CancelWithdrawn(const wire::Welcome& welcome, TimePoint now) {
  if (!welcome.resumed) return withdrawn_.clear();
  for (auto& [id, told] : withdrawn_) {
    told = now;
    Put(wire::Cancel{id, LeaseId()});
  }
}

bool ClientCore::DropLate(const JobId& id) {
  if (Find(id) != nullptr || withdrawn_.erase(id) == 0) return false;
  ++late_finals_;
  NoteAcknowledged(id);
  return true;
}

}  // namespace skerry::client
