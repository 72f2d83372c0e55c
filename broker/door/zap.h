// The judgement at the door (ZeroMQ Authentication Protocol, RFC 27): who connects, by which mechanism and
// key, at which door, and whether it is let in.
//
// Threads: pure. Errors: a request that is none is answered by nothing, and libzmq lets nobody in for it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "broker/door/authorized_keys.h"
#include "broker/metrics/counters.h"

namespace skerry::broker {

/// How what is bound next is protected.
enum class Door : std::uint8_t {
  kClientsWithKeys,
  kWorkersWithKeys,
  kAdminsWithKeys,
  kClientsPlain,
  kWorkersPlain,
  kAdminsPlain,
};
inline constexpr Door kDoors[] = {Door::kClientsWithKeys, Door::kWorkersWithKeys, Door::kAdminsWithKeys,
                                  Door::kClientsPlain,    Door::kWorkersPlain,    Door::kAdminsPlain};
/// Where those of a side come in by their keys, and where without.
Door DoorWithKeys(Side side);
Door PlainDoor(Side side);
/// What libzmq calls it ("domain").
const std::string& DomainOf(Door door);

struct ZapRequest {
  std::string id;
  std::string domain;
  std::string address;  ///< of the peer, for logs
  std::string mechanism;
  std::vector<std::string> credentials;
};

struct ZapVerdict {
  /// Nothing: it may come in.
  std::optional<HandshakeRefusal> refused;
  /// What libzmq tells with each of its messages: its public key, or kPlainUser.
  std::string user;
};

/// Of who came by a door without keys. libzmq would otherwise show what the peer says of itself there.
inline constexpr const char* kPlainUser = "plain";

std::optional<ZapRequest> ReadZapRequest(const std::vector<std::string>& frames);
ZapVerdict Judge(const ZapRequest& request, const AuthorizedKeys& keys);
std::vector<std::string> ZapReply(const ZapRequest& request, const ZapVerdict& verdict);

}  // namespace skerry::broker
