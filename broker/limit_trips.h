// Counting a final as its worker sent it, or as the broker made it: its outcome, what it used, and each limit
// that ended or curtailed its job once.
//
// Threads: the core's.
#pragma once

#include "broker/counters.h"
#include "common/wire/messages.h"

namespace skerry::broker {

void CountFinal(const wire::Final& final, BrokerCounters& counters);

}  // namespace skerry::broker
