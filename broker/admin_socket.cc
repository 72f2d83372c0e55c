#include "broker/admin_socket.h"

#include <sys/stat.h>

#include <string_view>

#include "common/endpoint.h"
#include "common/wire/admin_codec.h"

namespace skerry::broker {
namespace {

constexpr std::string_view kIpc = "ipc://";
constexpr int kHwm = 64;
constexpr int kBacklog = 16;
constexpr int kHandshakeMs = 5'000;

}  // namespace

Status CheckAdminEndpoint(std::string_view endpoint) {
  if (endpoint.empty()) return {};
  if (!endpoint.starts_with(kIpc)) {
    return Fail(ErrorKind::kInvalid, "admin endpoint '" + std::string(endpoint.substr(0, 256)) +
                                         "' is refused: who reaches it may do everything, so it must be an "
                                         "ipc://PATH, which its file's permission guards");
  }
  return CheckEndpoint(endpoint);
}

AdminSocket::AdminSocket(zmq::context_t& context) : socket_(context, zmq::socket_type::router) {
  socket_.set(zmq::sockopt::sndhwm, kHwm);
  socket_.set(zmq::sockopt::rcvhwm, kHwm);
  socket_.set(zmq::sockopt::maxmsgsize, static_cast<std::int64_t>(wire::kMaxHeaderBytes));
  socket_.set(zmq::sockopt::handshake_ivl, kHandshakeMs);
  socket_.set(zmq::sockopt::backlog, kBacklog);
  socket_.set(zmq::sockopt::linger, 0);
}

Status AdminSocket::Bind(const std::string& endpoint) {
  if (auto allowed = CheckAdminEndpoint(endpoint); !allowed) return allowed;
  // Before any thread of ours but ZeroMQ's runs: nobody may connect between bind and chmod.
  const mode_t before = umask(0177);
  try {
    socket_.bind(endpoint);
  } catch (const zmq::error_t& e) {
    umask(before);
    return Fail(ErrorKind::kUnavailable, "cannot listen on " + endpoint + ": " + e.what());
  }
  umask(before);
  if (chmod(endpoint.c_str() + kIpc.size(), 0600) != 0) return FailErrno("cannot close " + endpoint);
  return {};
}

void AdminSocket::Turn(AdminDesk& desk, TimePoint now) {
  for (int answered = 0; answered < kQuestionsPerTurn && AnswerOne(desk, now); ++answered) {
  }
}

bool AdminSocket::AnswerOne(AdminDesk& desk, TimePoint now) {
  zmq::message_t routing;
  if (!socket_.recv(routing, zmq::recv_flags::dontwait)) return false;
  if (!routing.more()) return true;
  zmq::message_t header;
  // A multipart message arrives whole: these never wait.
  (void)socket_.recv(header);
  zmq::message_t ignored;
  for (bool more = header.more(); more; more = ignored.more()) (void)socket_.recv(ignored);
  const AdminAnswer answer = desk.Answer({header.data<char>(), header.size()}, now);
  const auto last = zmq::send_flags::dontwait;
  const auto not_last = zmq::send_flags::sndmore | last;
  const std::string head = wire::EncodeAdmin(answer.header);
  if (!socket_.send(routing, not_last)) return true;
  (void)socket_.send(zmq::buffer(head), answer.rows.empty() ? last : not_last);
  if (!answer.rows.empty()) (void)socket_.send(zmq::buffer(answer.rows), last);
  return true;
}

}  // namespace skerry::broker
