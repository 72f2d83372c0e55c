#include "clients/cli/doctor/try_connect.h"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "clients/cpp/ipc_socket.h"
#include "common/fd.h"

namespace skerry::cli::doctor {
namespace {

constexpr std::string_view kIpc = "ipc://";
constexpr std::string_view kTcp = "tcp://";

/// Begins to connect: 0, EINPROGRESS, or why it cannot.
int Begin(const std::string& endpoint, Fd& socket_of) {
  const std::size_t colon = endpoint.rfind(':');
  std::string host = endpoint.substr(kTcp.size(), colon - kTcp.size());
  if (host.starts_with('[')) host = host.substr(1, host.size() - 2);
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), endpoint.substr(colon + 1).c_str(), &wanted, &found) != 0) return EINVAL;
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, &freeaddrinfo);
  socket_of = Fd(socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket_of.valid()) return errno;
  return connect(socket_of.get(), found->ai_addr, found->ai_addrlen) == 0 ? 0 : errno;
}

int ErrorOf(int socket_of) {
  int error = 0;
  socklen_t size = sizeof error;
  return getsockopt(socket_of, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

int BeginLocally(std::string_view path, Fd& socket_of) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return ENAMETOOLONG;
  std::copy(path.begin(), path.end(), address.sun_path);
  socket_of = Fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket_of.valid()) return errno;
  return connect(socket_of.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ? 0
                                                                                                    : errno;
}

}  // namespace

std::vector<int> TryConnect(const std::vector<std::string>& endpoints, Millis patience) {
  std::vector<int> errors(endpoints.size(), EINVAL);
  std::vector<Fd> sockets(endpoints.size());
  for (std::size_t i = 0; i < endpoints.size(); ++i) {
    if (endpoints[i].starts_with(kIpc)) {
      errors[i] = client::ErrorOfConnectingTo(std::string_view(endpoints[i]).substr(kIpc.size()));
    } else if (endpoints[i].starts_with(kTcp)) {
      errors[i] = Begin(endpoints[i], sockets[i]);
    }
  }
  const TimePoint end = SteadyClock::now() + patience;
  for (;;) {
    std::vector<pollfd> waiting;
    std::vector<std::size_t> whose;
    for (std::size_t i = 0; i < endpoints.size(); ++i) {
      if (errors[i] != EINPROGRESS) continue;
      waiting.push_back({sockets[i].get(), POLLOUT, 0});
      whose.push_back(i);
    }
    const auto left = std::chrono::ceil<Millis>(end - SteadyClock::now());
    if (waiting.empty() || left <= Millis(0)) break;
    (void)poll(waiting.data(), waiting.size(), static_cast<int>(left.count()));
    for (std::size_t at = 0; at < waiting.size(); ++at) {
      if (waiting[at].revents != 0) errors[whose[at]] = ErrorOf(waiting[at].fd);
    }
  }
  std::replace(errors.begin(), errors.end(), EINPROGRESS, ETIMEDOUT);
  return errors;
}

Result<Fd> ConnectTo(const std::string& endpoint, TimePoint until) {
  Fd socket_of;
  int error = endpoint.starts_with(kIpc)
                  ? BeginLocally(std::string_view(endpoint).substr(kIpc.size()), socket_of)
                  : Begin(endpoint, socket_of);
  if (error == EINPROGRESS) {
    const auto left = std::chrono::ceil<Millis>(until - SteadyClock::now());
    pollfd writable{socket_of.get(), POLLOUT, 0};
    const bool ready = left > Millis(0) && poll(&writable, 1, static_cast<int>(left.count())) > 0;
    error = ready ? ErrorOf(socket_of.get()) : ETIMEDOUT;
  }
  if (error != 0) return Fail(ErrorKind::kUnavailable, std::strerror(error));
  return socket_of;
}

}  // namespace skerry::cli::doctor
