#include "clients/cpp/dealer.h"

#include <memory>
#include <utility>

#include "common/curve/curve.h"
#include "common/wire/codec.h"

namespace skerry::client {
namespace {

// A broker that restarts is found again within this; reconnects back off to the longest.
constexpr int kReconnectMs = 10;
constexpr int kLongestReconnectMs = 500;
// An outage ends when packets pass again, not when TCP tries again: its pauses double, and after 15 s of
// outage the next may be 10 s away. So a connection whose broker confirms nothing for so long is given up,
// ZeroMQ makes another, and each try of that is short.
constexpr int kUnconfirmedMs = 5'000;
constexpr int kConnectMs = 2'000;
// BYE and the last ACKs get this long to leave.
constexpr int kLingerMs = 100;
constexpr int kHwm = 1000;
// Below it a copy is cheaper than what sharing takes.
constexpr std::size_t kSharedFromBytes = 4096;

/// A frame that holds on to the text instead of copying it: a thousand jobs that wait in the socket with one
/// program's code hold it once.
zmq::message_t FrameOf(const std::shared_ptr<const std::string>& text) {
  using Holder = std::shared_ptr<const std::string>;
  if (text->size() < kSharedFromBytes) return zmq::message_t(*text);
  auto holder = std::make_unique<Holder>(text);
  // Never written to: libzmq only has no other type. The last owner may be its thread.
  zmq::message_t frame(
      const_cast<char*>(text->data()), text->size(),
      [](void*, void* hint) { const std::unique_ptr<Holder> done(static_cast<Holder*>(hint)); },
      holder.get());
  (void)holder.release();
  return frame;
}

}  // namespace

Dealer::Dealer(std::shared_ptr<zmq::context_t> context, const std::string& endpoint,
               const std::optional<keys::LinkKeys>& keys)
    : context_(std::move(context)),
      endpoint_(endpoint),
      socket_(*context_, zmq::socket_type::dealer),
      monitor_(*context_, socket_, curve::kHandshakeFailures | ZMQ_EVENT_HANDSHAKE_SUCCEEDED) {
  // Only into a live connection: what waits for a dead broker is ours to judge (ClientCore::generation).
  socket_.set(zmq::sockopt::immediate, true);
  socket_.set(zmq::sockopt::reconnect_ivl, kReconnectMs);
  socket_.set(zmq::sockopt::reconnect_ivl_max, kLongestReconnectMs);
  socket_.set(zmq::sockopt::connect_timeout, kConnectMs);
  socket_.set(zmq::sockopt::tcp_maxrt, kUnconfirmedMs);
  curve::SetBounds(socket_);
  socket_.set(zmq::sockopt::linger, kLingerMs);
  socket_.set(zmq::sockopt::sndhwm, kHwm);
  socket_.set(zmq::sockopt::rcvhwm, kHwm);
  socket_.set(zmq::sockopt::ipv6, true);
  if (keys) curve::ConnectWith(socket_, *keys);
  socket_.connect(endpoint);
}

std::string Dealer::WhyNotConnected() {
  LookAtHandshakes(SteadyClock::now());
  return refusal_.empty() ? "" : "; " + refusal_;
}

void Dealer::LookAtHandshakes(TimePoint now) {
  while (const auto event = monitor_.Next()) {
    refusal_ = curve::WhyNoHandshake(*event);
    if (refusal_.empty()) {
      trouble_.OnSuccess();
      continue;
    }
    // What fails after the end of the connection below was under way before it.
    if (connect_at_ != TimePoint::max()) continue;
    const auto pause = trouble_.OnFailure(now).pause;
    // Nothing waits in the socket that could be lost with it: see `immediate`.
    if (pause > Millis(0) && zmq_disconnect(socket_.handle(), endpoint_.c_str()) == 0)
      connect_at_ = now + pause;
  }
  if (now < connect_at_) return;
  const bool connected = zmq_connect(socket_.handle(), endpoint_.c_str()) == 0;
  connect_at_ = connected ? TimePoint::max() : now + curve::HandshakeTrouble::kLongestPause;
}

bool Dealer::Get(std::optional<Incoming>& incoming) {
  incoming.reset();
  zmq::message_t frame;
  if (!socket_.recv(frame, zmq::recv_flags::dontwait)) {
    LookAtHandshakes(SteadyClock::now());
    return false;
  }
  auto header = wire::Decode({frame.data<char>(), frame.size()});
  std::vector<std::string> payloads;
  // A multipart message arrives whole: these never wait.
  for (bool more = frame.more(); more;) {
    (void)socket_.recv(frame);
    more = frame.more();
    if (payloads.size() < wire::kMaxPayloads) payloads.push_back(frame.to_string());
  }
  if (header) incoming.emplace(Incoming{std::move(*header), std::move(payloads)});
  return true;
}

PutResult Dealer::Put(const Outgoing& outgoing) {
  zmq::message_t head(wire::Encode(outgoing.header));
  const auto flags = [](bool more) { return more ? zmq::send_flags::sndmore : zmq::send_flags::none; };
  if (!socket_.send(head, flags(!outgoing.payloads.empty()) | zmq::send_flags::dontwait))
    return PutResult::kFull;
  for (std::size_t i = 0; i < outgoing.payloads.size(); ++i) {
    zmq::message_t frame = FrameOf(outgoing.payloads[i]);
    // The first frame chose the connection; the rest follow it without waiting.
    (void)socket_.send(frame, flags(i + 1 < outgoing.payloads.size()) | zmq::send_flags::dontwait);
  }
  return PutResult::kSent;
}

}  // namespace skerry::client
