#include "broker/connection_watch.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstddef>
#include <utility>

namespace skerry::broker {
namespace {

/// What the other side has said so far; 0 where the kernel does not count it (ipc://).
std::uint64_t BytesHeard(int descriptor) {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return 0;
  constexpr std::size_t kEnd = offsetof(tcp_info, tcpi_bytes_received) + sizeof info.tcpi_bytes_received;
  return size >= kEnd ? info.tcpi_bytes_received : 0;
}

}  // namespace

ConnectionWatch::ConnectionWatch(zmq::context_t& context, zmq::socket_t& watched, ConnectionBounds bounds)
    : book_(bounds),
      monitor_(context, watched,
               ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL |
                   ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL) {}

void ConnectionWatch::Serve(const std::function<void(HandshakeRefusal)>& refused, TimePoint now) {
  while (const auto event = monitor_.Next()) Take(*event, refused, now);
  if (now < NextLook()) return;
  next_look_ = now + kLook;
  LookAtFreshOnes(refused, now);
}

void ConnectionWatch::Take(const curve::SocketEvent& event,
                           const std::function<void(HandshakeRefusal)>& refused, TimePoint now) {
  const int descriptor = static_cast<int>(event.value);
  switch (event.what) {
    case ZMQ_EVENT_ACCEPTED:
      closing_.erase(descriptor);
      for (const int surplus : book_.OnAccepted(descriptor, now)) {
        Close(surplus);
        refused(HandshakeRefusal::kTooMany);
      }
      break;
    case ZMQ_EVENT_DISCONNECTED: {
      const bool ours = closing_.erase(descriptor) > 0;
      if (std::exchange(failed_, false) && !ours) refused(HandshakeRefusal::kUnfinished);
      book_.OnGone(descriptor);
      break;
    }
    case ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL:
      failed_ = true;
      break;
    case ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL:
      refused(event.value == ZMQ_PROTOCOL_ERROR_ZMTP_MECHANISM_MISMATCH ? HandshakeRefusal::kMechanism
                                                                        : HandshakeRefusal::kProtocol);
      break;
    default:
      break;
  }
}

void ConnectionWatch::LookAtFreshOnes(const std::function<void(HandshakeRefusal)>& refused, TimePoint now) {
  for (const int descriptor : book_.FreshOnes(now)) {
    if (closing_.contains(descriptor) || BytesHeard(descriptor) <= kMostBeforeHello) continue;
    Close(descriptor);
    refused(HandshakeRefusal::kProtocol);
  }
}

/// libzmq finds it at its end, and closes it. Where it just has, and the number is somebody else's by now, he
/// connects again.
void ConnectionWatch::Close(int descriptor) {
  ::shutdown(descriptor, SHUT_RDWR);
  closing_.insert(descriptor);
}

void ConnectionWatch::OnSpoke(zmq::message_t& frame, Proof who) {
  book_.OnSpoke(zmq_msg_get(frame.handle(), ZMQ_SRCFD), std::move(who));
}

void ConnectionWatch::HangUp(const std::function<bool(const Identity&)>& allowed) {
  for (const int descriptor : book_.Unwelcome(allowed)) Close(descriptor);
}

}  // namespace skerry::broker
