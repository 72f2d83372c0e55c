#include "broker/retry_policy.h"

#include "broker/spec_limits.h"
#include "broker/worker_conduct.h"

namespace skerry::broker {

bool MayRunAgain(const Job& job, const BrokerConfig& config) {
  switch (job.spec.retry) {
    case Retry::kNever:
      return false;
    case Retry::kSafe:
      return !job.call_relayed && job.redispatches < 1;
    case Retry::kAlways:
      return job.redispatches < config.max_redispatches;
  }
  return false;
}

Millis LeaseTime(const Job& job, const BrokerConfig& config) {
  return Millis(kRunsPerLease * LimitOf(job.spec, LimitId::kTimeoutMs)) + config.lease_grace;
}

}  // namespace skerry::broker
