#include "broker/sessions/session_state.h"

#include <array>

namespace skerry::broker {
namespace {

constexpr std::array<std::string_view, kSessionStateCount> kStates = {"linked", "away", "closed"};
constexpr std::array<std::string_view, kSessionEventCount> kEvents = {"hello",  "unreachable", "silent",
                                                                      "broken", "ttl",         "bye"};

}  // namespace

std::string_view NameOf(SessionState state) {
  return kStates[static_cast<std::size_t>(state)];
}
std::string_view NameOf(SessionEvent event) {
  return kEvents[static_cast<std::size_t>(event)];
}

std::optional<SessionState> Next(SessionState state, SessionEvent event) {
  switch (state) {
    case SessionState::kLinked:
      if (event == SessionEvent::kHello) return SessionState::kLinked;
      if (event == SessionEvent::kTtl) return std::nullopt;
      return event == SessionEvent::kBye ? SessionState::kClosed : SessionState::kAway;
    case SessionState::kAway:
      if (event == SessionEvent::kHello) return SessionState::kLinked;
      if (event == SessionEvent::kTtl || event == SessionEvent::kBye) return SessionState::kClosed;
      return std::nullopt;
    case SessionState::kClosed:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace skerry::broker
