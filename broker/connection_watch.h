// Watches the connections of one of the broker's sockets: counts handshakes that fail, and closes the oldest
// of those that say nothing when there are too many.
//
// Threads: the socket's. Ownership: must end before the socket does. Errors: none; what it closes connects
// again if it is honest.
#pragma once

#include <functional>
#include <unordered_set>
#include <zmq.hpp>

#include "broker/connection_book.h"
#include "broker/counters.h"
#include "common/curve/socket_monitor.h"

namespace skerry::broker {

class ConnectionWatch {
 public:
  ConnectionWatch(zmq::context_t& context, zmq::socket_t& watched, ConnectionBounds bounds);

  /// Takes what has happened; `refused` hears of each connection that was not let in.
  void Serve(const std::function<void(HandshakeRefusal)>& refused, TimePoint now);
  /// The connection that a message came by has finished its handshake.
  void OnSpoke(zmq::message_t& frame);

  zmq::socket_t& socket() { return monitor_.socket(); }

 private:
  ConnectionBook book_;
  curve::SocketMonitor monitor_;
  std::unordered_set<int> closing_;  // descriptors closed by us whose end is not told yet
  bool failed_ = false;              // libzmq said so of the handshake of the one whose end comes next
};

}  // namespace skerry::broker
