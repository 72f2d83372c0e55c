// Where brokers are, as a person writes it: one endpoint, a name that stands for several, or a file of such.
//
//   ipc:///run/skerry/clients          a socket on this machine
//   tcp://10.0.0.7:7101                one address; [fd00::7] for IPv6
//   tcp://brokers.example.org:7101     every address of the name, IPv4 and IPv6
//   file:/etc/skerry/brokers           one of the above per line; # begins a comment
//
// A place may be followed by a space and the public key of its broker, where each has its own.
//
// Threads: pure. Errors: kInvalid, naming the place (and the line of a file).
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"

namespace skerry {

/// Brokers that one worker or client speaks to; more are left out, and that is said.
inline constexpr std::size_t kMaxBrokers = 64;
inline constexpr std::size_t kMaxBrokerFileBytes = 64u << 10;
inline constexpr std::size_t kBrokerKeyLength = 40;  // Z85 of 32 bytes

/// What a socket connects to.
struct BrokerAddress {
  std::string endpoint;  ///< ipc://PATH, or tcp:// with a numeric address
  std::string key;       ///< the broker's public key (Z85); empty: the one that is set for all, or none
  auto operator<=>(const BrokerAddress&) const = default;
};

struct BrokerPlace {
  enum class Kind : std::uint8_t { kEndpoint, kName, kFile };
  Kind kind = Kind::kEndpoint;
  std::string text;  ///< the endpoint, or file:PATH, as written, without the key
  std::string host;  ///< kName
  std::string port;  ///< kName
  std::string path;  ///< kFile
  std::string key;
};

Result<BrokerPlace> ParseBrokerPlace(std::string_view text);
/// Whether it is one.
Status CheckBrokerPlace(std::string_view text);
/// All of a setting's texts, and each fault of theirs.
Result<std::vector<BrokerPlace>> ParseBrokerPlaces(const std::vector<std::string>& texts);
/// The places that a file lists: endpoints and names, at least one. Every fault is told with its line.
Result<std::vector<BrokerPlace>> ParseBrokerFile(std::string_view text);
/// Of an address that a resolver gave: brackets around IPv6.
std::string TcpEndpoint(const std::string& address, const std::string& port);

}  // namespace skerry
