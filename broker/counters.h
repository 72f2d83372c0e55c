// What the broker counts, as plain numbers; metrics.h shows them to Prometheus.
//
// Threads: the core's; the shell copies them out between events.
#pragma once

#include <array>
#include <cstdint>

#include "common/limits.h"
#include "common/outcome.h"

namespace skerry::broker {

struct BrokerCounters {
  std::uint64_t submitted = 0;
  std::uint64_t dispatched = 0;
  std::uint64_t redispatched = 0;
  std::uint64_t finished_ok = 0;
  std::array<std::uint64_t, kCodeCount> finished_error{};  ///< by Code
  std::array<std::uint64_t, kLimitCount> limit_trips{};    ///< by LimitId, once per job and limit
  std::uint64_t stray_finals = 0;                          ///< for leases their worker does not hold
  std::uint64_t dropped_events = 0;                        ///< for clients that were away too long
};

}  // namespace skerry::broker
