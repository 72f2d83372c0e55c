// Where a client's session stands.
//
//             HELLO
//   (none) ─────────> linked ──unreachable, silent, broken──> away ──ttl──> closed
//                      │  ^ └─HELLO (a new link)─┐             │ ^            ^
//                      │  │                      │             │ └─ speaks: asked for its HELLO
//                      │  └──────────────────────┴────HELLO────┘              │
//                      └───────────────────── BYE (of either) ────────────────┘
//
// A closed session is found by nobody and lives until its running jobs have ended.
//
// Threads: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace skerry::broker {

enum class SessionState : std::uint8_t { kLinked, kAway, kClosed };
inline constexpr int kSessionStateCount = 3;

enum class SessionEvent : std::uint8_t {
  kHello,        ///< on the old link or a new one
  kUnreachable,  ///< a message to it was not taken
  kSilent,       ///< nothing heard for the peer timeout
  kBroken,       ///< it sent what is no message
  kTtl,          ///< away for the session's time to live
  kBye,
};
inline constexpr int kSessionEventCount = 6;

std::string_view NameOf(SessionState state);
std::string_view NameOf(SessionEvent event);

/// The state after `event`, or nothing where the event means nothing in that state and must be ignored.
std::optional<SessionState> Next(SessionState state, SessionEvent event);

}  // namespace skerry::broker
