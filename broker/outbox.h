// What the core wants sent, in order. The core never touches a socket: a shell takes these and sends them.
//
// Threads: the core's.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "broker/payload.h"
#include "common/wire/messages.h"

namespace skerry::broker {

/// Clients and workers come in by sockets of their own.
enum class Side : std::uint8_t { kClient, kWorker };

/// One link: the socket it is on and the routing id that ZeroMQ gave it. A peer that reconnects gets a new
/// one.
struct Peer {
  Side side = Side::kClient;
  std::string routing;
  auto operator<=>(const Peer&) const = default;
};

struct Send {
  Peer peer;
  wire::Header header;
  std::vector<Payload> payloads;
};

class Outbox {
 public:
  void Put(Peer peer, wire::Header header, std::vector<Payload> payloads = {}) {
    sends_.push_back({std::move(peer), std::move(header), std::move(payloads)});
  }
  std::vector<Send> Take() { return std::exchange(sends_, {}); }

 private:
  std::vector<Send> sends_;
};

}  // namespace skerry::broker

template <>
struct std::hash<skerry::broker::Peer> {
  std::size_t operator()(const skerry::broker::Peer& peer) const {
    return std::hash<std::string>()(peer.routing) * 2 + static_cast<std::size_t>(peer.side);
  }
};
