// Where a job stands inside the broker.
//
//              submit             dispatch            final, lost
//     (none) ─────────> queued ─────────────> running ────────────> ended ──forget──> (gone)
//                         │ ^                  │   │                  ^
//                         │ └──── requeue ─────┘   └─cancel─> cancelling
//                         └── cancel, expire, refuse ──────> ended <──┘ final, lost
//
// Threads: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace skerry::broker {

enum class JobState : std::uint8_t { kQueued, kRunning, kCancelling, kEnded };
inline constexpr int kJobStateCount = 4;

enum class JobEvent : std::uint8_t {
  kDispatch,  ///< a worker has a slot and the memory
  kFinal,     ///< its worker said how it ended
  kLost,      ///< its worker is gone and it may not run again
  kRequeue,   ///< its worker is gone or had no room, and it may run again
  kCancel,    ///< its client wants it no more
  kExpire,    ///< its queue deadline passed
  kRefuse,    ///< no worker could ever take it, or it may not run now
};
inline constexpr int kJobEventCount = 7;

std::string_view NameOf(JobState state);
std::string_view NameOf(JobEvent event);

/// The state after `event`, or nothing where the event means nothing in that state and must be ignored.
std::optional<JobState> Next(JobState state, JobEvent event);

}  // namespace skerry::broker
