#include "bench/wire_client.h"

#include <utility>
#include <variant>

#include "common/hash.h"
#include "common/wire/negotiate.h"

namespace skerry::bench {
namespace {

constexpr Millis kGreeting{5'000};
// As the client library: an ACK of its own for each final would double the messages.
constexpr std::size_t kAcksTogether = 64;

bool WaitReadable(zmq::socket_t& socket, Millis patience) {
  zmq_pollitem_t item{socket.handle(), 0, ZMQ_POLLIN, 0};
  return zmq_poll(&item, 1, static_cast<long>(patience.count())) > 0;
}

}  // namespace

void SendFrames(zmq::socket_t& socket, const std::vector<std::string_view>& frames) {
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const auto more = i + 1 < frames.size() ? zmq::send_flags::sndmore : zmq::send_flags::none;
    (void)socket.send(zmq::buffer(frames[i]), more);
  }
}

WireClient::WireClient(zmq::context_t& context, const std::string& endpoint, FarSide far_side)
    : socket_(context, zmq::socket_type::dealer), far_side_(far_side) {
  socket_.set(zmq::sockopt::linger, 0);
  socket_.set(zmq::sockopt::sndhwm, 0);  // the window bounds it
  socket_.set(zmq::sockopt::rcvhwm, 0);
  socket_.connect(endpoint);
}

Status WireClient::Greet(Hears hears) {
  if (far_side_ == FarSide::kRelay) return {};
  wire::Hello hello;
  hello.session = SessionId(RandomHex(8));
  hello.tenant = TenantId("bench");
  if (hears == Hears::kFinals) hello.capabilities = {std::string(wire::kQuietCapability)};
  SendFrames(socket_, {wire::Encode(hello)});
  for (const TimePoint end = SteadyClock::now() + kGreeting; !welcomed_;) {
    if (SteadyClock::now() >= end) return Fail(ErrorKind::kUnavailable, "the broker does not answer");
    if (auto received = NextFinal(Millis(1)); !received) return Fail(received.error());
  }
  return {};
}

void WireClient::Submit(const JobSpec& job, std::string_view code, std::string_view input) {
  SendFrames(socket_, {wire::Encode(wire::Submit{job}), code, input});
}

Result<std::optional<wire::Final>> WireClient::NextFinal(Millis patience) {
  for (;;) {
    bool came = false;
    auto final = Receive(came);
    if (!final || *final) return final;
    if (came) continue;
    FlushAcks();
    if (!WaitReadable(socket_, patience)) return std::nullopt;
  }
}

Result<std::optional<wire::Final>> WireClient::Receive(bool& came) {
  zmq::message_t frame;
  if (!socket_.recv(frame, zmq::recv_flags::dontwait)) return std::nullopt;
  came = true;
  auto header = wire::Decode({frame.data<char>(), frame.size()});
  while (frame.more()) (void)socket_.recv(frame);
  if (!header) return Fail(header.error());
  if (const auto* refuse = std::get_if<wire::Refuse>(&*header))
    return Fail(ErrorKind::kUnavailable, "the broker refuses: " + refuse->reason);
  if (std::holds_alternative<wire::Bye>(*header))
    return Fail(ErrorKind::kUnavailable, "the broker has forgotten this client: it was silent for too long");
  if (std::holds_alternative<wire::Welcome>(*header)) welcomed_ = true;
  if (std::holds_alternative<wire::Accepted>(*header)) ++accepted_;
  if (const auto* ping = std::get_if<wire::Ping>(&*header))
    SendFrames(socket_, {wire::Encode(wire::Pong{ping->number})});
  auto* final = std::get_if<wire::Final>(&*header);
  if (final == nullptr) return std::nullopt;
  Acknowledge(final->id);
  return std::move(*final);
}

void WireClient::Acknowledge(const JobId& id) {
  if (far_side_ == FarSide::kRelay) return;
  acks_.ids.push_back(id.str());
  if (acks_.ids.size() >= kAcksTogether) FlushAcks();
}

void WireClient::FlushAcks() {
  if (acks_.ids.empty()) return;
  SendFrames(socket_, {wire::Encode(acks_)});
  acks_.ids.clear();
}

}  // namespace skerry::bench
