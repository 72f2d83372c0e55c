// Load through the whole stack: a client that keeps jobs in flight, or submits them at a given rate.
//
// Threads: the caller's, and one more that submits for PaceStack. Errors: a job that does not end ok ends the
// measurement: a figure of failing jobs is none.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/sample.h"
#include "bench/workload.h"
#include "clients/cpp/client.h"
#include "common/result.h"
#include "common/units.h"

namespace skerry::bench {

/// A client whose host calls are answered at once with the workload's answer.
Result<std::unique_ptr<Client>> ConnectFor(const Workload& workload, const std::string& endpoint);

/// Latency is from Submit to the final's arrival here. `in_flight` of 1 measures an idle pool, more its
/// throughput.
Result<Sample> LoadStack(Client& client, const Workload& workload, Millis duration, std::uint64_t in_flight);

/// Jobs come when they come, whether or not the ones before have ended: latency is from when a job was due,
/// so that a stall is felt by all that wait behind it.
Result<Sample> PaceStack(Client& client, const Workload& workload, const std::vector<Micros>& arrivals);

}  // namespace skerry::bench
