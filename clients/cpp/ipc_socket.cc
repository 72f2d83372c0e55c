#include "clients/cpp/ipc_socket.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "common/fd.h"

namespace skerry::client {

int ErrorOfConnectingTo(std::string_view path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return ENAMETOOLONG;
  std::copy(path.begin(), path.end(), address.sun_path);
  // A full backlog would hold us up.
  const Fd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid()) return errno;
  if (connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return 0;
  return errno == EAGAIN ? 0 : errno;
}

std::string WhyNobodyAnswers(std::string_view endpoint) {
  constexpr std::string_view kIpc = "ipc://";
  if (!endpoint.starts_with(kIpc)) return {};
  const std::string path(endpoint.substr(kIpc.size()));
  const int error = ErrorOfConnectingTo(path);
  switch (error) {
    case 0:
      return {};
    case ENOENT:
      return "; there is no socket at " + path + ": is the broker running, and is this its endpoint?";
    case EACCES:
      return "; this user may not use the socket " + path +
             ": run as the broker's user, or let this user into its folder";
    case ECONNREFUSED:
      return "; nobody listens on " + path + ": a broker that is gone has left it";
    default:
      return "; " + path + ": " + std::strerror(error);
  }
}

}  // namespace skerry::client
