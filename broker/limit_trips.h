// Counting a final: by its outcome, and each limit that ended or curtailed its job once.
//
// Threads: the core's.
#pragma once

#include "broker/counters.h"
#include "common/job.h"
#include "common/wire/messages.h"

namespace skerry::broker {

/// `spec.limits` are the job's resolved limits; empty for a job that was refused.
void CountFinal(const wire::Final& final, const JobSpec& spec, BrokerCounters& counters);

}  // namespace skerry::broker
