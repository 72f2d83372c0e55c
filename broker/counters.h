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
  std::uint64_t dropped_events = 0;     ///< for clients that were away, or read too slowly, for too long
  std::uint64_t workers_cut_off = 0;    ///< for a lie: worker_conduct.h
  std::uint64_t late_messages = 0;      ///< about leases that had been taken from their worker
  std::uint64_t repeated_messages = 0;  ///< sent again after a broken link, and seen before
  std::uint64_t unknown_messages = 0;   ///< of a type that only newer peers know
  std::uint64_t broken_messages = 0;    ///< that did not decode
};

}  // namespace skerry::broker
