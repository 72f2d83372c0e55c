// Which ZeroMQ endpoints may be used while there is no CURVE: ipc:// and loopback, nothing that another
// machine reaches.
//
//   Status allowed = CheckEndpoint("tcp://127.0.0.1:7001");
//
// Threads: pure. Errors: kInvalid, naming the endpoint and what to use instead.
#pragma once

#include <charconv>
#include <string>
#include <string_view>

#include "common/result.h"

namespace skerry {
namespace endpoint_internal {

/// 127.0.0.0/8 as four plain decimal numbers; a host name that merely begins so is not one.
inline bool IsLoopbackV4(std::string_view host) {
  for (int part = 0; part < 4; ++part) {
    unsigned value = 0;
    const auto [end, error] = std::from_chars(host.data(), host.data() + host.size(), value);
    if (error != std::errc() || value > 255 || (part == 0 && value != 127)) return false;
    host.remove_prefix(static_cast<std::size_t>(end - host.data()));
    if (part < 3) {
      if (host.empty() || host[0] != '.') return false;
      host.remove_prefix(1);
    }
  }
  return host.empty();
}

}  // namespace endpoint_internal

inline Status CheckEndpoint(std::string_view endpoint) {
  constexpr std::string_view kIpc = "ipc://";
  constexpr std::string_view kTcp = "tcp://";
  // sockaddr_un's sun_path is 108 bytes with its end.
  constexpr std::size_t kMaxIpcPath = 107;
  if (endpoint.starts_with(kIpc)) {
    const std::size_t path = endpoint.size() - kIpc.size();
    if (path >= 1 && path <= kMaxIpcPath) return {};
    return Fail(ErrorKind::kInvalid,
                "endpoint '" + std::string(endpoint) + "': the path after ipc:// must be 1 to 107 bytes");
  }
  if (endpoint.starts_with(kTcp)) {
    const std::string_view rest = endpoint.substr(kTcp.size());
    const std::size_t colon = rest.rfind(':');
    const std::string_view host = rest.substr(0, colon);
    if (colon == std::string_view::npos || colon + 1 == rest.size()) {
      return Fail(ErrorKind::kInvalid, "endpoint '" + std::string(endpoint) + "' has no port");
    }
    if (host == "localhost" || host == "[::1]" || endpoint_internal::IsLoopbackV4(host)) return {};
  }
  return Fail(ErrorKind::kInvalid,
              "endpoint '" + std::string(endpoint) +
                  "' is refused: links are not encrypted yet, so only ipc:// paths and loopback "
                  "(tcp://127.0.0.1:PORT, tcp://[::1]:PORT, tcp://localhost:PORT) are allowed");
}

}  // namespace skerry
