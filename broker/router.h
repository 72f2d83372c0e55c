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
#include "common/result.h"

namespace skerry::broker {

/// One received message, its header not decoded yet.
struct Received {
  Peer from;
  zmq::message_t header;
  std::vector<Payload> payloads;
  bool well_formed = true;  ///< false: no header, or more payload frames than any message has
};

enum class PutResult : bool { kUndelivered, kSent };

/// Binds it as it is guarded now (Gatekeeper::Guard). Errors: which endpoint, and why not.
Status Listen(zmq::socket_t& socket, const std::string& endpoint);

class Router {
 public:
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
