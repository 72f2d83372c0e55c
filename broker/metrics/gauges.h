// What is true in the broker now rather than counted.
//
// Threads: the core's; taken between events. The sums are kept, not summed up: asking costs the same however
// many peers there are.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>

namespace skerry::broker {

/// What a worker says that it is made of, and held in by: printable ASCII, at most 64 bytes each.
struct WorkerBuild {
  std::string version;
  std::string v8;
  std::string sandbox;  ///< a SandboxLevel's name, "other", or "unknown" of a worker too old to tell
  auto operator<=>(const WorkerBuild&) const = default;
};
/// How many connected workers there are of each build.
using WorkerBuilds = std::map<WorkerBuild, std::uint64_t>;

struct WorkerSums {
  std::uint64_t workers = 0;
  std::uint64_t accepting = 0;  ///< not draining, and with a slot
  std::uint64_t slots_used = 0;
  std::uint64_t slots_free = 0;  ///< of accepting workers
  std::uint64_t memory_promised_mb = 0;
  std::uint64_t memory_free_mb = 0;  ///< of accepting workers
  std::uint64_t spares = 0;
  std::uint64_t cells = 0;

  WorkerSums& operator+=(const WorkerSums& more);
  WorkerSums& operator-=(const WorkerSums& less);
  bool operator==(const WorkerSums&) const = default;
};

struct SessionSums {
  std::uint64_t sessions = 0;  ///< absent clients' included
  std::uint64_t away = 0;
  std::uint64_t unacked_finals = 0;
  std::uint64_t unacked_bytes = 0;
  std::uint64_t backlog_bytes = 0;  ///< events and calls kept for clients that are away or have not read them
};

/// Of rates that brokers share; zeros without a Redis.
struct RateSums {
  bool up = false;
  std::uint64_t brokers = 0;  ///< last seen
};

struct BrokerGauges {
  std::uint64_t queued = 0;
  std::uint64_t queued_bytes = 0;
  std::uint64_t parked = 0;  ///< of the queued, those whose libraries no worker has now
  std::uint64_t program_bytes = 0;
  WorkerSums workers;
  SessionSums sessions;
  WorkerBuilds builds;
  RateSums rates;
};

}  // namespace skerry::broker
