#include "common/curve/socket_monitor.h"

#include <atomic>
#include <cstring>

namespace skerry::curve {
namespace {

std::string NewAddress() {
  static std::atomic<std::uint64_t> made{0};
  return "inproc://skerry-monitor-" + std::to_string(++made);
}

}  // namespace

SocketMonitor::SocketMonitor(zmq::context_t& context, zmq::socket_t& watched, int events)
    : events_(context, zmq::socket_type::pair) {
  const std::string address = NewAddress();
  // Unbounded, since libzmq's I/O thread would wait for room, and every connection with it.
  events_.set(zmq::sockopt::rcvhwm, 0);
  events_.set(zmq::sockopt::linger, 0);
  if (zmq_socket_monitor(watched.handle(), address.c_str(), events) != 0) throw zmq::error_t();
  events_.connect(address);
}

std::optional<SocketEvent> SocketMonitor::Next() {
  zmq::message_t frame;
  if (!events_.recv(frame, zmq::recv_flags::dontwait)) return std::nullopt;
  SocketEvent event;
  if (frame.size() >= sizeof event.what + sizeof event.value) {
    std::memcpy(&event.what, frame.data(), sizeof event.what);
    std::memcpy(&event.value, frame.data<char>() + sizeof event.what, sizeof event.value);
  }
  // The endpoint's name, which arrives with it.
  while (frame.more()) (void)events_.recv(frame);
  return event;
}

std::string WhyNoHandshake(const SocketEvent& event) {
  switch (event.what) {
    case ZMQ_EVENT_HANDSHAKE_FAILED_AUTH:
      return "the broker refuses this key: its operator must authorize it, or has revoked it, or this is its "
             "endpoint for others (clients, workers and operators have one each)";
    case ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL:
      if (event.value == ZMQ_PROTOCOL_ERROR_ZMTP_MECHANISM_MISMATCH) {
        return "one side encrypts and the other does not: this endpoint of the broker needs a key (--key, "
               "--broker-key), or has none";
      }
      return "the handshake failed: is this the broker's endpoint, and --broker-key its public key?";
    case ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL:
      return "the other side ended the handshake: is this the broker's endpoint, and are --key and "
             "--broker-key what it needs?";
    default:
      return {};
  }
}

}  // namespace skerry::curve
