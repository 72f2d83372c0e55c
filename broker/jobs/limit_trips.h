// Counting a final as its worker sent it, or as the broker made it: its outcome, what it used, and each limit
// that ended or curtailed its job once.
//
// Threads: the core's.
#pragma once

#include "broker/metrics/counters.h"
#include "common/limit_set.h"
#include "common/units.h"
#include "common/wire/messages.h"

namespace skerry::broker {

/// Each limit of a job that ended or curtailed this one.
LimitSet TripsOf(const wire::Final& final);
/// What a worker says that something took, made fit for a sum: its word may be anything.
Micros PlausibleTime(double millis);

void CountFinal(const wire::Final& final, BrokerCounters& counters);

}  // namespace skerry::broker
