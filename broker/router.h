// A bound ROUTER socket that speaks our frames: [routing id] [header map] [payload frames 0..2].
//
// Payload frames are moved in and out, never copied (those under 256 bytes excepted, where sharing costs
// more).
//
// Threads: one. Ownership: owns its socket. Errors: Bind says what is wrong with the endpoint; Put says
// Undelivered for a peer that is gone or whose queue is full, and never blocks.
#pragma once

#include <optional>
#include <string>
#include <vector>
#include <zmq.hpp>

#include "broker/outbox.h"
#include "common/curve/curve.h"
#include "common/result.h"
#include "common/units.h"
#include "common/wire/messages.h"

namespace skerry::broker {

/// One received message, its header not decoded yet.
struct Received {
  Peer from;
  zmq::message_t header;
  std::vector<Payload> payloads;
  std::size_t frames = 0;   ///< that came, the routing id not counted
  bool well_formed = true;  ///< false: no header, or more payload frames than any message has
};

enum class PutResult : bool { kUndelivered, kSent };

/// Binds it as it is guarded now (Gatekeeper::Guard). Errors: which endpoint, and why not.
Status Listen(zmq::socket_t& socket, const std::string& endpoint);

class Router {
 public:
  /// The largest message that is one: a header and a payload of the largest frame (the other payload is a
  /// receipt, and code and input together are half of it); and what the framing and PINGs between come to.
  static constexpr Bytes kMostUnfinished =
      Bytes(curve::kMaxFrameBytes + wire::kMaxHeaderBytes) + Bytes::MiB(7);
  static constexpr Bytes kMostUnfinishedTogether = Bytes::MiB(512);
  /// A message of more is not the mistake of a peer that speaks otherwise: it hears no REFUSE.
  static constexpr std::size_t kMostFrames = 64;

  Router(zmq::context_t& context, Side side);

  Status Bind(const std::string& endpoint) { return Listen(socket_, endpoint); }
  /// The next message that has arrived, or nothing.
  std::optional<Received> Get();
  PutResult Put(const Send& send);

  zmq::socket_t& socket() { return socket_; }

 private:
  Side side_;
  zmq::socket_t socket_;
};

}  // namespace skerry::broker
