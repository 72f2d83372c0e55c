// Jobs in a FairQueue without a broker around it, and what of them runs.
//
// Threads: the test's.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "broker/queue/fair_queue.h"
#include "broker/sessions/session_registry.h"

namespace skerry::broker::testing {

class FairBench {
 public:
  explicit FairBench(FairQueue::ShareOf share_of = [](const TenantId&) { return Share(); })
      : queue(std::move(share_of), Millis(1'000)) {}
  ~FairBench() {
    while (!jobs_.empty()) End(jobs_.begin()->second.get());
  }

  struct Ask {
    std::string tenant = "t";
    std::string user = {};
    int priority = 0;
    int session = 0;
    TimePoint since = {};
  };
  Job* Submit(const Ask& ask) {
    auto owned = std::make_unique<Job>();
    Job* job = owned.get();
    job->id = JobId(std::to_string(next_++));
    job->account = shared_.accounts.Hold({TenantId(ask.tenant), UserId(ask.user)});
    job->priority = static_cast<std::int8_t>(ask.priority);
    job->session = &sessions[ask.session];
    job->queued_since = ask.since;
    job->order = next_;
    jobs_[job] = std::move(owned);
    queue.Add(*job);
    return job;
  }
  /// Starts whose turn it is, and says whose it was.
  Job* Run(std::uint64_t cost_us = 1'000) {
    Job* job = queue.Front();
    if (job == nullptr) return nullptr;
    job->lease = std::make_unique<Lease>();
    queue.Start(*job, cost_us);
    return job;
  }
  std::string RunTenant(std::uint64_t cost_us = 1'000) {
    const Job* job = Run(cost_us);
    return job == nullptr ? "" : job->account->tenant.str();
  }
  /// As on a pool of one slot: whose turn it is has it, and gives it back. Whose it was; there must be one.
  Account Serve(std::uint64_t cost_us = 1'000) {
    Job* job = Run(cost_us);
    const Account account = *job->account;
    End(job, cost_us);
    return account;
  }
  std::string ServeTenant(std::uint64_t cost_us = 1'000) { return Serve(cost_us).tenant.str(); }
  void End(Job* job, std::uint64_t cost_us = 1'000) {
    if (job->lease != nullptr) {
      queue.Stop(*job, cost_us);
    } else {
      queue.Remove(*job);
    }
    jobs_.erase(job);
  }

  std::map<int, Session> sessions;
  FairQueue queue;

 private:
  SharedParts shared_;
  std::map<Job*, std::unique_ptr<Job>> jobs_;
  std::int64_t next_ = 1;
};

}  // namespace skerry::broker::testing
