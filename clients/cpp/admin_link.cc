#include "clients/cpp/admin_link.h"

#include <cerrno>
#include <chrono>
#include <variant>

#include "clients/cpp/ipc_socket.h"
#include "common/endpoint.h"

namespace skerry::client {
namespace {

// A page of rows at their longest, and as much again.
constexpr std::int64_t kMaxFrameBytes = 4ll << 20;
constexpr int kReconnectMs = 20;

}  // namespace

AdminLink::AdminLink(const std::string& endpoint)
    : endpoint_(endpoint), socket_(context_, zmq::socket_type::dealer) {
  socket_.set(zmq::sockopt::linger, 0);
  socket_.set(zmq::sockopt::immediate, true);
  socket_.set(zmq::sockopt::reconnect_ivl, kReconnectMs);
  socket_.set(zmq::sockopt::maxmsgsize, kMaxFrameBytes);
}

Result<std::unique_ptr<AdminLink>> AdminLink::Open(const std::string& endpoint) {
  if (auto allowed = CheckEndpoint(endpoint); !allowed) return Fail(allowed.error());
  if (!endpoint.starts_with("ipc://")) {
    return Fail(ErrorKind::kInvalid, "admin endpoint '" + endpoint +
                                         "' is refused: a broker's admin socket is an ipc://PATH on its own "
                                         "machine; run this there (ssh)");
  }
  std::unique_ptr<AdminLink> link(new AdminLink(endpoint));
  // ZeroMQ would go on looking for a socket that is not there.
  if (!WhyNobodyAnswers(endpoint).empty()) return Fail(link->NoAnswer());
  try {
    link->socket_.connect(endpoint);
  } catch (const zmq::error_t& e) {
    return Fail(ErrorKind::kUnavailable, "cannot connect to " + endpoint + ": " + e.what());
  }
  return link;
}

Error AdminLink::NoAnswer() const {
  return {ErrorKind::kUnavailable, "no broker answers on " + endpoint_ + WhyNobodyAnswers(endpoint_) +
                                       " (its setting `admin` names the socket; none is open by default)"};
}

Error AdminLink::Broken(const std::string& what) const {
  return {ErrorKind::kUnavailable, "the broker at " + endpoint_ + " answers what cannot be read (" + what +
                                       "): is it a broker's `admin` socket, and of about this version?"};
}

bool AdminLink::Wait(short events, TimePoint until) {
  zmq::pollitem_t item{socket_.handle(), 0, events, 0};
  const auto left = std::chrono::ceil<Millis>(until - SteadyClock::now());
  if (left <= Millis(0)) return false;
  try {
    zmq::poll(&item, 1, left);
  } catch (const zmq::error_t& e) {
    if (e.num() != EINTR) throw;
    return false;  // Ctrl-C
  }
  return (item.revents & events) != 0;
}

Result<AdminLink::Answer> AdminLink::Put(wire::Ask ask) {
  const TimePoint until = SteadyClock::now() + kPatience;
  ask.number = next_number_++;
  const std::string bytes = wire::EncodeAdmin(ask);
  if (!Wait(ZMQ_POLLOUT, until) || !socket_.send(zmq::buffer(bytes), zmq::send_flags::dontwait))
    return Fail(NoAnswer());
  while (Wait(ZMQ_POLLIN, until)) {
    auto answer = Take(ask.number);
    if (answer || !answer.error().message.empty()) return answer;
  }
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
