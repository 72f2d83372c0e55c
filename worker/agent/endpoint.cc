#include "worker/agent/endpoint.h"

#include <arpa/inet.h>

#include <charconv>

namespace skerry::agent {
namespace {

bool IsPort(std::string_view text) {
  int port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc() && end == text.data() + text.size() && port > 0 && port <= 65535;
}

// A whole dotted address: "127.0.0.1.example.org" is somebody else's.
bool IsLoopback(std::string_view host) {
  if (host == "localhost" || host == "[::1]") return true;
  in_addr address{};
  if (::inet_pton(AF_INET, std::string(host).c_str(), &address) != 1) return false;
  return ntohl(address.s_addr) >> 24 == 127;
}

}  // namespace

Status CheckLocalEndpoint(std::string_view url) {
  constexpr std::string_view kIpc = "ipc://";
  constexpr std::string_view kTcp = "tcp://";
  if (url.substr(0, kIpc.size()) == kIpc && url.size() > kIpc.size()) return {};
  if (url.substr(0, kTcp.size()) == kTcp) {
    const std::string_view address = url.substr(kTcp.size());
    const std::size_t colon = address.rfind(':');
    if (colon != std::string_view::npos && IsPort(address.substr(colon + 1)) &&
        IsLoopback(address.substr(0, colon))) {
      return {};
    }
  }
  return Fail(ErrorKind::kInvalid,
              "endpoint '" + std::string(url) +
                  "' is refused: links are not encrypted yet, so only ipc://PATH and "
                  "tcp://127.0.0.1:PORT, tcp://[::1]:PORT or tcp://localhost:PORT are allowed");
}

}  // namespace skerry::agent
