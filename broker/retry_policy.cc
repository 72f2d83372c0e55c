#include "broker/retry_policy.h"

#include "broker/spec_limits.h"
#include "broker/worker_conduct.h"

namespace skerry::broker {

bool MayRunAgain(const Job& job, const BrokerConfig& config) {
  const std::uint32_t most = job.spec.retry == Retry::kAlways ? config.max_redispatches : 1;
  return AllowsAnotherRun(job.spec.retry, job.call_relayed) && job.redispatches < most;
}

Millis LeaseTime(const Job& job, const BrokerConfig& config) {
  return Millis(kRunsPerLease * LimitOf(job.spec, LimitId::kTimeoutMs)) + config.lease_grace;
}

}  // namespace skerry::broker
