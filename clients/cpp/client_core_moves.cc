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
    const bool unsent = !job.may_be_there();
    const bool may = scope == Scope::kMayRunAgain && !job.cancelled &&
                     AllowsAnotherRun(job.spec.retry, !job.calls.empty());
    if (unsent || may) ids.push_back(id);
  }
  std::vector<Job> jobs;
  for (const JobId& id : ids) jobs.push_back(TakeOut(jobs_.find(id)));
  std::sort(jobs.begin(), jobs.end(),
            [](const Job& a, const Job& b) { return a.submitted_at < b.submitted_at; });
  return jobs;
}

ClientCore::Job ClientCore::TakeOut(std::unordered_map<JobId, Job>::iterator at) {
  Job job = std::move(at->second);
  jobs_.erase(at);
  ReleaseCode(job);
  refused_.erase(job.number);
  if (job.may_be_there() && withdrawn_.size() < kMostWithdrawn)
    withdrawn_[job.spec.id] = {TimePoint::max(), job.spec.deadline_ms};
  NoteLost(job);
  if (job.noticed) events_.emplace_back(JobRestarted{job.spec.id});
  return job;
}

/// The broker that had it can say nothing of it any more: what is known of its run there stays.
void ClientCore::NoteLost(Job& job) {
  if (!job.may_be_there()) return;
  ++job.sent_before;
  if (job.noticed || !job.calls.empty() || job.attempt > 1) job.begun_before = true;
}

/// Takes a job that was out of this core's hands in, and nothing else.
ClientCore::Job& ClientCore::TakeIn(Job job) {
  const JobId id = job.spec.id;
  withdrawn_.erase(id);
  job.number = next_number_++;
  job.attempt = 1;
  job.noticed = job.carried = job.needed = job.must_carry = job.resent = false;
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
  if (const auto known = withdrawn_.find(job.spec.id); known != withdrawn_.end()) {
    job.spec.deadline_ms = known->second.deadline_ms;  // else it would be another job
    --job.sent_before;                                 // this broker can say what it did
  }
  Job& taken = TakeIn(std::move(job));
  if (link_ == LinkState::kLinked) SendJob(taken);
}

void ClientCore::Adopt(Job job, TimePoint now) {
  job.stage = JobStage::kUnsent;
  Job& taken = TakeIn(std::move(job));
  if (taken.begun_before) taken.deadline_ms = taken.spec.deadline_ms = 0;
  if (!HasTimeLeft(taken, now, "no broker could take it in time")) return;
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
  return found->second.told == TimePoint::max() || now - found->second.told < kCancelTakes;
}

/// Behind the WELCOME of a broker that was given up: it goes on with nothing that is another's by now.
void ClientCore::CancelWithdrawn(const wire::Welcome& welcome, TimePoint now) {
  if (!welcome.resumed) return withdrawn_.clear();
  for (auto& [id, withdrawn] : withdrawn_) {
    withdrawn.told = now;
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
