// Watches the connections of one of the broker's sockets: counts handshakes that fail, and closes what libzmq
// would leave open: the oldest of those that say nothing when there are too many, those that say more than a
// handshake is before theirs is done (libzmq would hold a frame's worth for each), and those whose key was
// revoked.
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
  /// Greeting, handshake and HELLO, with the most leases and libraries that one may name, in less than half.
  static constexpr std::uint64_t kMostBeforeHello = 128u << 10;
  /// How often those are looked at that have not said HELLO.
  static constexpr Millis kLook{50};

  ConnectionWatch(zmq::context_t& context, zmq::socket_t& watched, ConnectionBounds bounds);

  /// Takes what has happened; `refused` hears of each connection that was not let in.
  void Serve(const std::function<void(HandshakeRefusal)>& refused, TimePoint now);
  /// When Serve is to be called though nothing has happened.
  TimePoint NextLook() const { return book_.fresh() > 0 ? next_look_ : TimePoint::max(); }
  /// The connection that a message came by has finished its handshake, and proved to be that.
  void OnSpoke(zmq::message_t& frame, Proof who);
  /// Closes the connections of those whose key `allowed` says no to.
  void HangUp(const std::function<bool(const Identity&)>& allowed);

  zmq::socket_t& socket() { return monitor_.socket(); }

 private:
  void Take(const curve::SocketEvent& event, const std::function<void(HandshakeRefusal)>& refused,
            TimePoint now);
  void LookAtFreshOnes(const std::function<void(HandshakeRefusal)>& refused, TimePoint now);
  void Close(int descriptor);

  ConnectionBook book_;
  curve::SocketMonitor monitor_;
  std::unordered_set<int> closing_;  // descriptors closed by us whose end is not told yet
  bool failed_ = false;              // libzmq said so of the handshake of the one whose end comes next
  TimePoint next_look_{};
};

}  // namespace skerry::broker
