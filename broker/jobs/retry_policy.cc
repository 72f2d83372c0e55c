#include "broker/jobs/retry_policy.h"

#include "broker/workers/worker_conduct.h"

namespace skerry::broker {

bool MayRunAgain(const Job& job, const BrokerConfig& config) {
  const std::uint32_t most = job.retry == Retry::kAlways ? config.max_redispatches : 1;
  return AllowsAnotherRun(job.retry, job.call_relayed) && job.runs_before() < most;
}

Millis LeaseTime(const Job& job, const BrokerConfig& config) {
  return Millis(kRunsPerLease * job.limits().Get(LimitId::kTimeoutMs)) + config.lease_grace;
}

}  // namespace skerry::broker
