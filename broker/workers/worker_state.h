// Where a worker stands with the broker.
//
//             HELLO               DRAIN
//   (none) ─────────> serving ───────────────> draining
//                      │  ^ └──unreachable──> away <──┘ unreachable
//                      │  └───────HELLO────────┘ │
//                      │                         │
//                      └── BYE, silent (of any) ─┴──> gone       its jobs run elsewhere or are LOST
//                      └── lie (of any) ────────────> cut off    the same, and its session is refused for a
//                      while
//
// Only a serving worker is given jobs; one that is away keeps its leases for as long as it may take to come
// back. DRAIN is said again after a HELLO by a worker that still drains. Gone and cut off are the last
// states: the record is erased.
//
// Threads: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace skerry::broker {

enum class WorkerState : std::uint8_t { kServing, kDraining, kAway, kGone, kCutOff };
inline constexpr int kWorkerStateCount = 5;

enum class WorkerEvent : std::uint8_t {
  kHello,        ///< on the old link or a new one
  kDrain,        ///< it wants no more jobs
  kUnreachable,  ///< a message to it was not taken
  kSilent,       ///< nothing heard for the peer timeout, or not back in time
  kBye,
  kLie,  ///< worker_conduct.h
};
inline constexpr int kWorkerEventCount = 6;

std::string_view NameOf(WorkerState state);
std::string_view NameOf(WorkerEvent event);

/// The state after `event`, or nothing where the event means nothing in that state and must be ignored.
std::optional<WorkerState> Next(WorkerState state, WorkerEvent event);

}  // namespace skerry::broker
