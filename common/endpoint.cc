#include "common/endpoint.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <string>

namespace skerry {
namespace {

// sockaddr_un's sun_path is 108 bytes with its end.
constexpr std::size_t kMaxIpcPath = 107;

bool IsPort(std::string_view text) {
  if (text == "*") return true;
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

// A name or an address, and none of ZeroMQ's other forms ("eth0;10.0.0.1").
bool IsHost(std::string_view host) {
  constexpr std::size_t kLongestHost = 255;
  if (host == "*") return true;
  if (host.empty() || host.size() > kLongestHost) return false;
  if (host.front() == '[' && host.back() == ']') {
    in6_addr address{};
    return ::inet_pton(AF_INET6, std::string(host.substr(1, host.size() - 2)).c_str(), &address) == 1;
  }
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '-' || c == '_';
  };
  return std::all_of(host.begin(), host.end(), fits);
}

}  // namespace

Result<Reach> ReachOf(std::string_view endpoint) {
  constexpr std::string_view kIpc = "ipc://";
  constexpr std::string_view kTcp = "tcp://";
  const auto refused = [&](const std::string& why) {
    return Fail(ErrorKind::kInvalid, "endpoint '" + std::string(endpoint.substr(0, 256)) + "' " + why);
  };
  if (endpoint.starts_with(kIpc)) {
    const std::size_t path = endpoint.size() - kIpc.size();
    if (path >= 1 && path <= kMaxIpcPath) return Reach::kSocketFile;
    return refused("is refused: the path after ipc:// must be 1 to 107 bytes");
  }
  if (!endpoint.starts_with(kTcp)) return refused("is none: write ipc://PATH or tcp://HOST:PORT");
  const std::string_view address = endpoint.substr(kTcp.size());
  const std::size_t colon = address.rfind(':');
  if (colon == std::string_view::npos || !IsPort(address.substr(colon + 1))) {
    return refused("has no port: write tcp://HOST:7001, or use ipc://PATH");
  }
  const std::string_view host = address.substr(0, colon);
  if (!IsHost(host)) return refused("has no host: write tcp://HOST:PORT, or use ipc://PATH");
  return IsLoopback(host) ? Reach::kLoopback : Reach::kNetwork;
}

Status CheckEndpoint(std::string_view endpoint) {
  const auto reach = ReachOf(endpoint);
  return reach ? Status() : Fail(reach.error());
}

}  // namespace skerry
