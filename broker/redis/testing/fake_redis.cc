#include "broker/redis/testing/fake_redis.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace skerry::broker::testing {
namespace {

std::string NewPath() {
  static std::atomic<int> next{0};
  return "/tmp/skerry-fake-redis-" + std::to_string(getpid()) + "-" + std::to_string(next++);
}

}  // namespace

FakeRedis::FakeRedis(Answer answer)
    : answer_(std::move(answer)),
      path_(NewPath()),
      listener_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)),
      stop_(eventfd(0, EFD_CLOEXEC)) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path_.c_str(), sizeof address.sun_path - 1);
  if (bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      listen(listener_.get(), 16) != 0) {
    throw std::runtime_error("no socket for a fake Redis: " + path_);
  }
  thread_ = std::thread([this] { Serve(); });
}

FakeRedis::~FakeRedis() {
  (void)eventfd_write(stop_.get(), 1);
  thread_.join();
  unlink(path_.c_str());
}

bool FakeRedis::Await(int fd) const {
  std::array<pollfd, 2> items = {{{fd, POLLIN, 0}, {stop_.get(), POLLIN, 0}}};
  return poll(items.data(), items.size(), -1) > 0 && items[1].revents == 0;
}

void FakeRedis::Serve() {
  while (Await(listener_.get())) {
    const Fd peer(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (peer.valid()) ServeOne(peer.get());
  }
}

/// What comes in one piece is one command: our side sends no second one before it has an answer.
void FakeRedis::ServeOne(int peer) {
  std::array<char, 65'536> bytes;
  for (int command = 0; Await(peer); ++command) {
    if (recv(peer, bytes.data(), bytes.size(), 0) <= 0) return;
    const std::string answer = answer_(command);
    if (answer == kClose) return;
    for (std::size_t sent = 0; sent < answer.size();) {
      const ssize_t more = send(peer, answer.data() + sent, answer.size() - sent, MSG_NOSIGNAL);
      if (more <= 0) return;
      sent += static_cast<std::size_t>(more);
    }
  }
}

}  // namespace skerry::broker::testing
