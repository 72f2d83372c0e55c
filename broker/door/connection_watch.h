// Watches the connections of one of the broker's sockets: counts handshakes that fail, and closes what libzmq
// would leave open: the oldest of those that say nothing when there are too many, those that say more than a
// handshake is before theirs is done (libzmq would hold a frame's worth for each), those that go on with a
// message past what any may have, and those whose key was revoked.
//
// Threads: the socket's. Ownership: must end before the socket does. Errors: none; what it closes connects
// again if it is honest.
#pragma once

#include <functional>
#include <unordered_set>
#include <zmq.hpp>

#include "broker/door/connection_book.h"
#include "broker/door/unfinished_messages.h"
#include "broker/metrics/counters.h"
#include "common/curve/socket_monitor.h"

namespace skerry::broker {

class ConnectionWatch {
 public:
  /// Greeting, handshake and HELLO, with the most leases and libraries that one may name, in less than half.
  static constexpr std::uint64_t kMostBeforeHello = 128u << 10;
  /// How often those are looked at that have not said HELLO, or say much.
  static constexpr Millis kLook{50};
  /// How often all are: two calls of the kernel for each (measured: 0.8 us together).
  static constexpr Millis kLookAtAll{250};

  ConnectionWatch(zmq::context_t& context, zmq::socket_t& watched, ConnectionBounds bounds,
                  UnfinishedBounds unfinished);

  /// Takes what has happened; `refused` hears of each connection that was not let in.
  void Serve(const std::function<void(HandshakeRefusal)>& refused, TimePoint now);
  /// When Serve is to be called though nothing has happened; and then the socket read, also where it says
  /// that there is nothing: OnReadToEnd tells what a look means.
  TimePoint NextLook() const;
  /// A whole message came by that connection.
  void OnDelivered(zmq::message_t& frame);
  /// No message was left.
  void OnReadToEnd() { unfinished_.OnReadToEnd(); }
  /// The connection that a message came by has finished its handshake, and proved to be that.
  void OnSpoke(zmq::message_t& frame, Proof who);
  /// Closes the connection that this came by: it was no message, and long.
  void EndFlood(zmq::message_t& frame);
  /// Closes the connections of those whose key `allowed` says no to.
  void HangUp(const std::function<bool(const Identity&)>& allowed);

  zmq::socket_t& socket() { return monitor_.socket(); }

 private:
  void Take(const curve::SocketEvent& event, const std::function<void(HandshakeRefusal)>& refused,
            TimePoint now);
  void LookAtFreshOnes(const std::function<void(HandshakeRefusal)>& refused, TimePoint now);
  void LookAtUnfinished(UnfinishedMessages::Among among,
                        const std::function<void(HandshakeRefusal)>& refused);
  void Close(int descriptor);

  ConnectionBook book_;
  UnfinishedMessages unfinished_;  // of what the kernel counts: TCP
  curve::SocketMonitor monitor_;
  std::unordered_set<int> closing_;  // descriptors closed by us whose end is not told yet
  bool failed_ = false;              // libzmq said so of the handshake of the one whose end comes next
  std::size_t floods_ = 0;           // ended, and not told of yet
  TimePoint next_look_{};
  TimePoint next_look_at_all_{};
};

}  // namespace skerry::broker
