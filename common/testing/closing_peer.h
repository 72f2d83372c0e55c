// A TCP server that takes every connection and closes it unheard: what a client sees of a broker that ends
// its handshake.
//
// Threads: one of its own, until it is destroyed. Ownership: its sockets. Errors: no `port` where it cannot
// listen.
#pragma once

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

#include "common/fd.h"

namespace skerry::testing {

class ClosingPeer {
 public:
  ClosingPeer() : listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const at = reinterpret_cast<sockaddr*>(&address);
    if (bind(listener_.get(), at, size) != 0 || listen(listener_.get(), 64) != 0) return;
    if (getsockname(listener_.get(), at, &size) == 0) port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { Serve(); });
  }
  ~ClosingPeer() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }
  ClosingPeer(const ClosingPeer&) = delete;

  std::string url() const { return "tcp://127.0.0.1:" + std::to_string(port_); }
  int taken() const { return taken_; }

 private:
  void Serve() {
    while (!stop_) {
      pollfd waiting{listener_.get(), POLLIN, 0};
      if (poll(&waiting, 1, 10) <= 0) continue;
      const Fd one(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (one.valid()) ++taken_;
    }
  }

  const Fd listener_;
  std::uint16_t port_ = 0;
  std::atomic<bool> stop_{false};
  std::atomic<int> taken_{0};
  std::thread thread_;
};

}  // namespace skerry::testing
