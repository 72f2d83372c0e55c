#include "broker/router.h"

#include <cerrno>
#include <utility>

#include "common/curve/curve.h"
#include "common/wire/codec.h"

namespace skerry::broker {
namespace {

// Per peer and direction. Outgoing past it: the peer is not reading and is put away. Incoming past it: ZeroMQ
// stops reading from that peer, which is the back-pressure we want.
constexpr int kSendHwm = 4096;
constexpr int kReceiveHwm = 1000;
constexpr int kBacklog = 256;
// Lets finals that are on their way leave when the broker stops.
constexpr int kLingerMs = 100;
constexpr std::size_t kCopyBelow = 256;
// ZeroMQ's frames up to this size may lie in the buffer that it reads into (8 KiB, `in_batch_size`): a queued
// job that kept one would keep the whole buffer with it. Larger frames have memory of their own.
constexpr std::size_t kKeepAbove = 8192;

zmq::message_t ToMessage(const Payload& payload) {
  if (payload.size() < kCopyBelow) return zmq::message_t(payload.bytes().data(), payload.size());
  // ZeroMQ frees the message from its I/O thread; the holder keeps the bytes until then.
  auto* holder = new Payload(payload);
  return zmq::message_t(
      const_cast<char*>(payload.bytes().data()), payload.size(),
      [](void*, void* hint) { delete static_cast<Payload*>(hint); }, holder);
}

Payload ToPayload(zmq::message_t frame) {
  const auto bytes_of = [](const zmq::message_t& of) { return of.to_string_view(); };
  if (frame.size() <= kKeepAbove) return Payload(bytes_of(frame));
  return Payload::Keep(std::move(frame), bytes_of);
}

}  // namespace

Router::Router(zmq::context_t& context, Side side) : side_(side), socket_(context, zmq::socket_type::router) {
  socket_.set(zmq::sockopt::router_mandatory, true);
  socket_.set(zmq::sockopt::sndhwm, kSendHwm);
  socket_.set(zmq::sockopt::rcvhwm, kReceiveHwm);
  curve::SetBounds(socket_);
  socket_.set(zmq::sockopt::backlog, kBacklog);
  socket_.set(zmq::sockopt::linger, kLingerMs);
  socket_.set(zmq::sockopt::ipv6, true);
}

Status Listen(zmq::socket_t& socket, const std::string& endpoint) {
  std::string address = endpoint;
  // ZeroMQ binds to numeric addresses only.
  constexpr std::string_view kLocalhost = "tcp://localhost:";
  if (endpoint.starts_with(kLocalhost)) address = "tcp://127.0.0.1:" + endpoint.substr(kLocalhost.size());
  try {
    socket.bind(address);
  } catch (const zmq::error_t& e) {
    return Fail(ErrorKind::kUnavailable, "cannot listen on " + endpoint + ": " + e.what());
  }
  return {};
}

std::optional<Received> Router::Get() {
  zmq::message_t routing;
  if (!socket_.recv(routing, zmq::recv_flags::dontwait)) return std::nullopt;
  Received received;
  received.from = {side_, routing.to_string()};
  if (!routing.more()) {
    received.well_formed = false;
    return received;
  }
  // A multipart message arrives whole: these never wait.
  (void)socket_.recv(received.header);
  received.frames = 1;
  for (bool more = received.header.more(); more;) {
    zmq::message_t frame;
    (void)socket_.recv(frame);
    more = frame.more();
    ++received.frames;
    if (received.payloads.size() == wire::kMaxPayloads) {
      received.well_formed = false;
      continue;
    }
    received.payloads.push_back(ToPayload(std::move(frame)));
  }
  return received;
}

PutResult Router::Put(const Send& send) {
  const std::string header = wire::Encode(send.header);
  try {
    zmq::message_t routing(send.peer.routing);
    if (!socket_.send(routing, zmq::send_flags::sndmore | zmq::send_flags::dontwait))
      return PutResult::kUndelivered;
    zmq::message_t head(header);
    const auto flags = [](bool more) { return more ? zmq::send_flags::sndmore : zmq::send_flags::none; };
    (void)socket_.send(head, flags(!send.payloads.empty()));
    for (std::size_t i = 0; i < send.payloads.size(); ++i) {
      zmq::message_t frame = ToMessage(send.payloads[i]);
      (void)socket_.send(frame, flags(i + 1 < send.payloads.size()));
    }
    return PutResult::kSent;
  } catch (const zmq::error_t& e) {
    if (e.num() == EHOSTUNREACH) return PutResult::kUndelivered;
    throw;
  }
}

}  // namespace skerry::broker
