// Whether a job whose worker was lost may run again (DESIGN sections 3 and 7).
//
// Threads: pure.
#pragma once

#include "broker/config.h"
#include "broker/jobs/job.h"

namespace skerry::broker {

/// `safe`: once more, and only where no host call has left for the client: a second run would ask twice.
/// `always`: up to config.max_redispatches times. `never`: no.
bool MayRunAgain(const Job& job, const BrokerConfig& config);

/// How long a worker may hold the job's lease before it must have lost it: two runs (a worker runs a job that
/// died of a signal once more by itself) and the grace.
Millis LeaseTime(const Job& job, const BrokerConfig& config);

}  // namespace skerry::broker
