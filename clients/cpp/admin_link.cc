#include "clients/cpp/admin_link.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <iterator>
#include <string_view>
#include <utility>
#include <variant>

#include "clients/cpp/ipc_socket.h"
#include "common/curve/curve.h"

namespace skerry::client {
namespace {

// A page of rows at their longest, and as much again.
constexpr std::int64_t kMaxFrameBytes = 4ll << 20;
constexpr int kReconnectMs = 20;
// A socket on this machine is connected at once, or is not there.
constexpr Millis kLocal{20};

/// Whether trying again would be told the same: a key that is refused, one side that does not encrypt.
bool IsFinal(const curve::SocketEvent& event) {
  return event.what == ZMQ_EVENT_HANDSHAKE_FAILED_AUTH || event.what == ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL;
}

/// With this tool's own names of the settings.
std::string WhyRefused(const curve::SocketEvent& event) {
  std::string why = curve::WhyNoHandshake(event);
  constexpr std::string_view kOfPeers = "--key";
  if (const std::size_t at = why.find(kOfPeers); at != std::string::npos)
    why.replace(at, kOfPeers.size(), "--admin-key");
  if (event.what == ZMQ_EVENT_HANDSHAKE_FAILED_AUTH)
    why += "; operators' keys (skerry keygen --role admin) are under [admins] of its authorized file";
  return why;
}

}  // namespace

AdminLink::AdminLink(const std::string& endpoint, std::optional<keys::LinkKeys> keys)
    : endpoint_(endpoint),
      keys_(std::move(keys)),
      socket_(context_, zmq::socket_type::dealer),
      monitor_(context_, socket_, curve::kHandshakeFailures | ZMQ_EVENT_HANDSHAKE_SUCCEEDED) {
  socket_.set(zmq::sockopt::linger, 0);
  socket_.set(zmq::sockopt::immediate, true);
  socket_.set(zmq::sockopt::reconnect_ivl, kReconnectMs);
  curve::SetBounds(socket_);
  socket_.set(zmq::sockopt::maxmsgsize, kMaxFrameBytes);
  socket_.set(zmq::sockopt::ipv6, true);
}

Result<std::unique_ptr<AdminLink>> AdminLink::Open(const keys::LinkSettings& at) {
  auto keys = keys::LoadLinkKeys(at, keys::Role::kAdmin);
  if (!keys) return Fail(keys.error());
  std::unique_ptr<AdminLink> link(new AdminLink(at.endpoint, std::move(*keys)));
  if (auto connecting = link->Connect(); !connecting) return Fail(connecting.error());
  return link;
}

Status AdminLink::Connect() {
  while (monitor_.Next()) {
  }  // of the connection before
  try {
    if (keys_) curve::ConnectWith(socket_, *keys_);
    socket_.connect(endpoint_);
  } catch (const zmq::error_t& e) {
    return Fail(ErrorKind::kUnavailable, "cannot connect to " + endpoint_ + ": " + e.what());
  }
  connecting_ = true;
  connect_until_ = SteadyClock::now() + kPatience;
  return {};
}

void AdminLink::Disconnect() {
  connecting_ = false;
  try {
    socket_.disconnect(endpoint_);
  } catch (const zmq::error_t&) {
    // It has no such connection: as wished.
  }
}

bool AdminLink::AwaitBroker() {
  if (!connecting_ && !Connect()) return false;
  const TimePoint now = SteadyClock::now();
  if (Wait(ZMQ_POLLOUT, now + kLocal)) return true;
  // ZeroMQ would go on looking for a socket that is not there.
  if (connecting_ && WhyNobodyAnswers(endpoint_).empty() &&
      Wait(ZMQ_POLLOUT, std::max(connect_until_, now + kPatienceAgain)))
    return true;
  return false;
}

Error AdminLink::NoAnswer() const {
  const std::string why = refused_.empty() ? WhyNobodyAnswers(endpoint_) : "; " + refused_;
  return {ErrorKind::kUnavailable, "no broker answers on " + endpoint_ + why +
                                       " (its setting `admin` names the socket; none is open by default)"};
}

Error AdminLink::Broken(const std::string& what) const {
  return {ErrorKind::kUnavailable, "the broker at " + endpoint_ + " answers what cannot be read (" + what +
                                       "): is it a broker's `admin` socket, and of about this version?"};
}

bool AdminLink::Wait(short events, TimePoint until) {
  for (;;) {
    zmq::pollitem_t items[] = {{socket_.handle(), 0, events, 0},
                               {monitor_.socket().handle(), 0, ZMQ_POLLIN, 0}};
    const auto left = std::chrono::ceil<Millis>(until - SteadyClock::now());
    if (left <= Millis(0)) return false;
    try {
      zmq::poll(items, std::size(items), left);
    } catch (const zmq::error_t& e) {
      if (e.num() != EINTR) throw;
      return false;  // Ctrl-C
    }
    while (const auto event = monitor_.Next()) {
      refused_ = WhyRefused(*event);
      if (!IsFinal(*event)) continue;
      // ZeroMQ would go on knocking, fifty times a second: the next question does, once.
      Disconnect();
      return false;
    }
    if ((items[0].revents & events) != 0) return true;
  }
}

Result<AdminLink::Answer> AdminLink::Put(wire::Ask ask) {
  ask.number = next_number_++;
  const std::string bytes = wire::EncodeAdmin(ask);
  if (!AwaitBroker() || !socket_.send(zmq::buffer(bytes), zmq::send_flags::dontwait)) return Fail(NoAnswer());
  const TimePoint until = SteadyClock::now() + answer_within_;
  while (Wait(ZMQ_POLLIN, until)) {
    auto answer = Take(ask.number);
    if (!answer && answer.error().message.empty()) continue;
    answer_within_ = kPatience;
    return answer;
  }
  answer_within_ = kPatienceAgain;
  return Fail(NoAnswer());
}

Result<AdminLink::Answer> AdminLink::Take(std::uint64_t number) {
  const auto nothing = Fail(ErrorKind::kUnavailable, "");
  zmq::message_t head;
  if (!socket_.recv(head, zmq::recv_flags::dontwait)) return nothing;
  Answer answer;
  zmq::message_t frame;
  // A multipart message arrives whole: these never wait.
  for (bool more = head.more(); more; more = frame.more()) {
    (void)socket_.recv(frame);
    answer.page = frame.to_string();
  }
  auto header = wire::DecodeAdmin({head.data<char>(), head.size()});
  if (!header) return Fail(Broken(header.error().message));
  if (auto* denied = std::get_if<wire::Denied>(&*header)) {
    // 0: it could not read the question at all.
    if (denied->number != number && denied->number != 0) return nothing;
    return Fail(ErrorKind::kInvalid, "the broker at " + endpoint_ + " says no: " + denied->reason);
  }
  auto* told = std::get_if<wire::Told>(&*header);
  if (told == nullptr || told->number != number) return nothing;
  answer.told = std::move(*told);
  return answer;
}

}  // namespace skerry::client
