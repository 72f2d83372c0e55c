// What stands between this process and the socket of an ipc endpoint. ZeroMQ connects in the background and
// tells nobody why it cannot.
//
// Threads: pure, but for a connection that is made and closed at once. Errors: as an errno, or as text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace skerry::client {

/// 0: a process listens on that path (a full backlog says as much). Else why it cannot be reached.
int ErrorOfConnectingTo(std::string_view path);

/// "; there is no socket at PATH: …" for an ipc endpoint that cannot be reached, with what to do; empty for
/// one that can be, and for other endpoints.
std::string WhyNobodyAnswers(std::string_view endpoint);

}  // namespace skerry::client
