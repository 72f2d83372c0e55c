#include "broker/connection_watch.h"

#include <sys/socket.h>

#include <utility>

namespace skerry::broker {

ConnectionWatch::ConnectionWatch(zmq::context_t& context, zmq::socket_t& watched, ConnectionBounds bounds)
    : book_(bounds),
      monitor_(context, watched,
               ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL |
                   ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL) {}

void ConnectionWatch::Serve(const std::function<void(HandshakeRefusal)>& refused, TimePoint now) {
  while (const auto event = monitor_.Next()) {
    switch (event->what) {
      case ZMQ_EVENT_ACCEPTED:
        for (const int descriptor : book_.OnAccepted(static_cast<int>(event->value), now)) {
          // libzmq finds it at its end, and closes it. Where it just has, and the number is somebody else's
          // by now, he connects again.
          ::shutdown(descriptor, SHUT_RDWR);
          closing_.insert(descriptor);
          refused(HandshakeRefusal::kTooMany);
        }
        break;
      case ZMQ_EVENT_DISCONNECTED: {
        const int descriptor = static_cast<int>(event->value);
        const bool ours = closing_.erase(descriptor) > 0;
        if (std::exchange(failed_, false) && !ours) refused(HandshakeRefusal::kUnfinished);
        book_.OnGone(descriptor);
        break;
      }
      case ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL:
        failed_ = true;
        break;
      case ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL:
        refused(event->value == ZMQ_PROTOCOL_ERROR_ZMTP_MECHANISM_MISMATCH ? HandshakeRefusal::kMechanism
                                                                           : HandshakeRefusal::kProtocol);
        break;
      default:
        break;
    }
  }
}

void ConnectionWatch::OnSpoke(zmq::message_t& frame) {
  book_.OnSpoke(zmq_msg_get(frame.handle(), ZMQ_SRCFD));
}

}  // namespace skerry::broker
