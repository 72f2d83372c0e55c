// A connected DEALER socket that speaks our frames: [header map] [payload frames 0..2].
//
// Threads: one. Ownership: owns its socket, shares the context. Errors: a message that does not decode is
// skipped by Get: the broker is trusted not to send any, and a client has nobody to tell.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>
#include <zmq.hpp>

#include "clients/cpp/client_core.h"
#include "common/curve/handshake_trouble.h"
#include "common/curve/socket_monitor.h"
#include "common/keys/link_keys.h"

namespace skerry::client {

struct Incoming {
  wire::Header header;
  std::vector<std::string> payloads;
};

enum class PutResult : bool { kFull, kSent };

class Dealer {
 public:
  /// `keys`: as LoadLinkKeys gives them; none: a plain link.
  Dealer(std::shared_ptr<zmq::context_t> context, const std::string& endpoint,
         const std::optional<keys::LinkKeys>& keys);

  /// False: nothing has arrived. True with an empty optional: something was skipped.
  bool Get(std::optional<Incoming>& incoming);
  /// kFull: no broker is connected, or it is not reading.
  PutResult Put(const Outgoing& outgoing);
  /// "; the broker refuses this key: ..." where the last handshake failed, else empty.
  std::string WhyNotConnected();
  zmq::socket_t& socket() { return socket_; }

  /// Takes what is told of its handshakes: who fails again and again comes back after a pause only. Call it
  /// whenever `monitor` is readable, and at NextLook.
  void LookAtHandshakes(TimePoint now);
  TimePoint NextLook() const { return connect_at_; }
  zmq::socket_t& monitor() { return monitor_.socket(); }

 private:
  const std::shared_ptr<zmq::context_t> context_;
  const std::string endpoint_;
  zmq::socket_t socket_;
  curve::SocketMonitor monitor_;
  std::string refusal_;
  curve::HandshakeTrouble trouble_;
  TimePoint connect_at_ = TimePoint::max();  // while it waits to connect again
};

}  // namespace skerry::client
