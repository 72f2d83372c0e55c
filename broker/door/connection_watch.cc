#include "broker/door/connection_watch.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "common/logging.h"

namespace skerry::broker {
namespace {

/// What the other side has said so far; nothing where the kernel does not count it (ipc://).
std::optional<std::uint64_t> BytesHeard(int descriptor) {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return std::nullopt;
  constexpr std::size_t kEnd = offsetof(tcp_info, tcpi_bytes_received) + sizeof info.tcpi_bytes_received;
  if (size < kEnd) return std::nullopt;
  return info.tcpi_bytes_received;
}

/// Those of them that libzmq has read; a little more, if more comes between the two questions.
std::optional<std::uint64_t> BytesRead(int descriptor) {
  int unread = 0;
  if (ioctl(descriptor, FIONREAD, &unread) != 0) return std::nullopt;
  const auto heard = BytesHeard(descriptor);
  if (!heard) return std::nullopt;
  return *heard - std::min(*heard, static_cast<std::uint64_t>(unread));
}

int DescriptorOf(zmq::message_t& frame) {
  return zmq_msg_get(frame.handle(), ZMQ_SRCFD);
}

}  // namespace

ConnectionWatch::ConnectionWatch(zmq::context_t& context, zmq::socket_t& watched, ConnectionBounds bounds,
                                 UnfinishedBounds unfinished)
    : book_(bounds),
      unfinished_(unfinished),
      monitor_(context, watched,
               ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL |
                   ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL) {}

void ConnectionWatch::Serve(const std::function<void(HandshakeRefusal)>& refused, TimePoint now) {
  while (const auto event = monitor_.Next()) Take(*event, refused, now);
  for (; floods_ > 0; --floods_) refused(HandshakeRefusal::kFlood);
  if (now < NextLook()) return;
  next_look_ = now + kLook;
  LookAtFreshOnes(refused, now);
  const bool at_all = now >= next_look_at_all_;
  if (at_all) next_look_at_all_ = now + kLookAtAll;
  LookAtUnfinished(at_all ? UnfinishedMessages::Among::kAll : UnfinishedMessages::Among::kBusy, refused);
}

TimePoint ConnectionWatch::NextLook() const {
  const TimePoint soon = book_.fresh() > 0 || unfinished_.busy() ? next_look_ : TimePoint::max();
  return unfinished_.empty() ? soon : std::min(soon, next_look_at_all_);
}

void ConnectionWatch::Take(const curve::SocketEvent& event,
                           const std::function<void(HandshakeRefusal)>& refused, TimePoint now) {
  const int descriptor = static_cast<int>(event.value);
  switch (event.what) {
    case ZMQ_EVENT_ACCEPTED:
      closing_.erase(descriptor);
      unfinished_.OnGone(descriptor);
      if (BytesHeard(descriptor)) unfinished_.OnOpened(descriptor);
      for (const int surplus : book_.OnAccepted(descriptor, now)) {
        Close(surplus);
        refused(HandshakeRefusal::kTooMany);
      }
      break;
    case ZMQ_EVENT_DISCONNECTED: {
      const bool ours = closing_.erase(descriptor) > 0;
      if (std::exchange(failed_, false) && !ours) refused(HandshakeRefusal::kUnfinished);
      book_.OnGone(descriptor);
      unfinished_.OnGone(descriptor);
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
    if (closing_.contains(descriptor) || BytesHeard(descriptor).value_or(0) <= kMostBeforeHello) continue;
    Close(descriptor);
    refused(HandshakeRefusal::kProtocol);
  }
}

void ConnectionWatch::LookAtUnfinished(UnfinishedMessages::Among among,
                                       const std::function<void(HandshakeRefusal)>& refused) {
  for (const auto& surplus : unfinished_.Look(among, BytesRead)) {
    log::Warn("hung up on a connection that held too much of a message without its end",
              {{"of", surplus.owner}, {"bytes", surplus.held.count()}});
    Close(surplus.descriptor);
    refused(HandshakeRefusal::kFlood);
  }
}

/// libzmq finds it at its end, and closes it. Where it just has, and the number is somebody else's by now, he
/// connects again.
void ConnectionWatch::Close(int descriptor) {
  ::shutdown(descriptor, SHUT_RDWR);
  closing_.insert(descriptor);
  unfinished_.OnGone(descriptor);
}

void ConnectionWatch::OnDelivered(zmq::message_t& frame) {
  if (!unfinished_.empty()) unfinished_.OnDelivered(DescriptorOf(frame));
}

void ConnectionWatch::EndFlood(zmq::message_t& frame) {
  const int descriptor = DescriptorOf(frame);
  if (!book_.Knows(descriptor) || closing_.contains(descriptor)) return;
  Close(descriptor);
  ++floods_;
}

void ConnectionWatch::OnSpoke(zmq::message_t& frame, Proof who) {
  const int descriptor = DescriptorOf(frame);
  if (who != nullptr) unfinished_.OnProved(descriptor, who->name);
  book_.OnSpoke(descriptor, std::move(who));
}

void ConnectionWatch::HangUp(const std::function<bool(const Identity&)>& allowed) {
  for (const int descriptor : book_.Unwelcome(allowed)) Close(descriptor);
}

}  // namespace skerry::broker
