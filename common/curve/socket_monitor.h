// What libzmq tells of a socket's connections: who was accepted, whose handshake failed, who is gone.
//
// Threads: the watched socket's. Ownership: owns its own end; ends with the watched socket or before it.
// Memory: events wait here until Next takes them: call it regularly.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <zmq.hpp>

namespace skerry::curve {

struct SocketEvent {
  std::uint16_t what = 0;   ///< ZMQ_EVENT_*
  std::uint32_t value = 0;  ///< a descriptor, an errno or a code, as zmq_socket_monitor(3) says
};

class SocketMonitor {
 public:
  /// `events` are or-ed ZMQ_EVENT_*.
  SocketMonitor(zmq::context_t& context, zmq::socket_t& watched, int events);

  std::optional<SocketEvent> Next();
  zmq::socket_t& socket() { return events_; }

 private:
  zmq::socket_t events_;
};

/// The events that WhyNoHandshake explains.
inline constexpr int kHandshakeFailures = ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL |
                                          ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL |
                                          ZMQ_EVENT_HANDSHAKE_FAILED_AUTH;

/// For who connects to a broker: why it was not let in, as far as the handshake tells, and what to do. Empty
/// where the event is another.
std::string WhyNoHandshake(const SocketEvent& event);

}  // namespace skerry::curve
