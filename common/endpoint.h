// Which ZeroMQ endpoints may be used while there is no CURVE: ipc:// and loopback, nothing that another
// machine reaches.
//
//   Status allowed = CheckEndpoint("tcp://127.0.0.1:7001");
//
// Threads: pure. Errors: kInvalid, naming the endpoint and what to use instead.
#pragma once

#include <string_view>

#include "common/result.h"

namespace skerry {

/// ipc://PATH (1 to 107 bytes), or tcp:// with localhost, 127.0.0.0/8 or [::1] and a port (`*`: any free
/// one).
Status CheckEndpoint(std::string_view endpoint);

}  // namespace skerry
