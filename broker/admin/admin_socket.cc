#include "broker/admin/admin_socket.h"

#include <sys/stat.h>

#include <string_view>
#include <utility>

#include "broker/router.h"
#include "common/curve/curve.h"
#include "common/endpoint.h"
#include "common/wire/admin_codec.h"

namespace skerry::broker {
namespace {

constexpr std::string_view kIpc = "ipc://";
constexpr int kHwm = 64;
constexpr int kAdminBacklog = 16;
// An operator's machine that went to sleep frees its place: libzmq asks, and closes who does not answer.
constexpr int kHeartbeatMs = 30'000;

}  // namespace

AdminSocket::AdminSocket(zmq::context_t& context, Gatekeeper& door)
    : door_(door),
      socket_(context, zmq::socket_type::router),
      watch_(context, socket_, {kMostConnections, kMostConnections, Millis(curve::kHandshakeMs)},
             {kMostUnfinished, Bytes(kMostConnections * kMostUnfinished.count())}) {
  socket_.set(zmq::sockopt::sndhwm, kHwm);
  socket_.set(zmq::sockopt::rcvhwm, kHwm);
  socket_.set(zmq::sockopt::maxmsgsize, static_cast<std::int64_t>(wire::kMaxHeaderBytes));
  socket_.set(zmq::sockopt::handshake_ivl, curve::kHandshakeMs);
  socket_.set(zmq::sockopt::heartbeat_ivl, kHeartbeatMs);
  socket_.set(zmq::sockopt::backlog, kAdminBacklog);
  socket_.set(zmq::sockopt::linger, 0);
  socket_.set(zmq::sockopt::ipv6, true);
}

Status AdminSocket::Bind(const std::string& endpoint) {
  if (auto guarded = door_.Guard(socket_, Side::kAdmin, endpoint); !guarded) return guarded;
  if (ReachOf(endpoint) != Reach::kSocketFile) return Listen(socket_, endpoint);
  // Before any thread of ours but ZeroMQ's runs: nobody may connect between bind and chmod.
  const mode_t before = umask(0177);
  auto listening = Listen(socket_, endpoint);
  umask(before);
  if (!listening) return listening;
  if (chmod(endpoint.c_str() + kIpc.size(), 0600) != 0) return FailErrno("cannot close " + endpoint);
  return {};
}

void AdminSocket::Turn(AdminDesk& desk, const std::function<void()>& unheard, TimePoint now) {
  for (int taken = 0; taken < kQuestionsPerTurn && AnswerOne(desk, unheard, now); ++taken) {
  }
}

bool AdminSocket::Hears(zmq::message_t& header) {
  auto proof = door_.Identify(header);
  // A key that came in as an operator's may be somebody else's in the list that is in force now.
  if (!proof || (*proof != nullptr && (*proof)->side != Side::kAdmin)) return false;
  watch_.OnSpoke(header, std::move(*proof));
  return true;
}

bool AdminSocket::AnswerOne(AdminDesk& desk, const std::function<void()>& unheard, TimePoint now) {
  zmq::message_t routing;
  if (!socket_.recv(routing, zmq::recv_flags::dontwait)) {
    watch_.OnReadToEnd();
    return false;
  }
  if (!routing.more()) return true;
  zmq::message_t header;
  // A multipart message arrives whole: these never wait.
  (void)socket_.recv(header);
  zmq::message_t ignored;
  std::size_t frames = 1;
  for (bool more = header.more(); more; more = ignored.more(), ++frames) (void)socket_.recv(ignored);
  watch_.OnDelivered(header);
  if (frames > Router::kMostFrames) watch_.EndFlood(header);
  if (!Hears(header)) {
    unheard();
    return true;
  }
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
