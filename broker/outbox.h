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

#include "broker/identity.h"
#include "broker/jobs/payload.h"
#include "common/wire/messages.h"

namespace skerry::broker {

/// One link: the socket it is on, the routing id that it has there, and whose key it proved to have. A peer
/// that reconnects gets a new routing id; one that forges another's has another key, and so is another peer.
struct Peer {
  Side side = Side::kClient;
  std::string routing;
  Proof proof = nullptr;

  friend std::strong_ordering operator<=>(const Peer& a, const Peer& b) {
    if (const auto order = a.side <=> b.side; order != 0) return order;
    if (const auto order = a.routing <=> b.routing; order != 0) return order;
    return Compare(a.proof, b.proof);
  }
  friend bool operator==(const Peer& a, const Peer& b) { return (a <=> b) == 0; }
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
