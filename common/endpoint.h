// Which ZeroMQ endpoints there are, and how far each reaches: that decides what must protect it.
//
//   Result<Reach> reach = ReachOf("tcp://10.0.0.5:7001");   // Reach::kNetwork: CURVE or nothing
//
// Threads: pure. Errors: kInvalid, naming the endpoint and what to use instead.
#pragma once

#include <cstdint>
#include <string_view>

#include "common/result.h"

namespace skerry {

enum class Reach : std::uint8_t {
  kSocketFile,  ///< ipc://: whom the file's permissions let in
  kLoopback,    ///< every user and program of this machine
  kNetwork,
};

/// Of ipc://PATH (1 to 107 bytes), or tcp:// with `*`, a name, an IPv4 address or an [IPv6] one, and a port
/// (`*`: any free one). Loopback are localhost, 127.0.0.0/8 and [::1].
Result<Reach> ReachOf(std::string_view endpoint);
/// Whether it is one at all.
Status CheckEndpoint(std::string_view endpoint);

}  // namespace skerry
