// Load through the whole stack: a client that keeps a number of jobs in flight for a while.
//
// Threads: the caller's. Errors: a job that does not end ok ends the measurement: a figure of failing jobs is
// none.
#pragma once

#include <cstdint>

#include "bench/sample.h"
#include "bench/workload.h"
#include "clients/cpp/client.h"
#include "common/result.h"
#include "common/units.h"

namespace skerry::bench {

/// Latency is from Submit to the final's arrival here. `in_flight` of 1 measures an idle pool, more its
/// throughput.
Result<Sample> LoadStack(Client& client, const Workload& workload, Millis duration, std::uint64_t in_flight);

}  // namespace skerry::bench
