#include "clients/cli/up/first_job.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <variant>

#include "clients/cpp/client.h"
#include "common/fd.h"

namespace skerry::cli {
namespace {

constexpr Millis kLookUp{100};
constexpr Millis kConnectTimeout{250};

bool ConnectsTo(int family, const sockaddr* address, socklen_t size) {
  // A UNIX socket whose backlog is full would hold us up: EAGAIN says as much as a connection.
  const int wait = family == AF_UNIX ? SOCK_NONBLOCK : 0;
  const Fd fd(socket(family, SOCK_STREAM | SOCK_CLOEXEC | wait, 0));
  return fd.valid() && (connect(fd.get(), address, size) == 0 || errno == EAGAIN);
}

}  // namespace

FirstJob::FirstJob(std::string endpoint) : endpoint_(std::move(endpoint)), thread_([this] { Work(); }) {}

FirstJob::~FirstJob() {
  stopping_ = true;
  thread_.join();
}

std::optional<std::string> FirstJob::Served() {
  const std::lock_guard lock(mutex_);
  return served_;
}

void FirstJob::Work() {
  // Signals are the main thread's.
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, nullptr);
  while (!stopping_ && !TryOnce()) {
  }
}

bool FirstJob::TryOnce() {
  ClientOptions options;
  options.broker = endpoint_;
  options.tenant = TenantId("skerry-up");
  options.connect_timeout = kConnectTimeout;
  auto client = Client::Connect(std::move(options));
  if (!client) {
    std::this_thread::sleep_for(kLookUp);
    return false;
  }
  JobRequest job;
  job.code = "return 1";
  job.spec.id = JobId("first-job");
  job.spec.tenant = TenantId("skerry-up");
  if (!(*client)->Submit(job)) return false;
  while (!stopping_) {
    const auto event = (*client)->Next(kLookUp);
    if (!event) continue;
    if (std::holds_alternative<LinkFailed>(*event)) return false;
    if (const auto* final = std::get_if<JobFinal>(&*event)) {
      const std::lock_guard lock(mutex_);
      served_ = final->outcome.ok() ? "" : std::string(NameOf(final->outcome.error->code));
      return true;
    }
  }
  return true;
}

bool SomebodyListens(const std::string& endpoint) {
  constexpr std::string_view kIpc = "ipc://";
  constexpr std::string_view kTcp = "tcp://";
  if (endpoint.starts_with(kIpc)) {
    const std::string path = endpoint.substr(kIpc.size());
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) return false;
    std::memcpy(address.sun_path, path.c_str(), path.size());
    return ConnectsTo(AF_UNIX, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  }
  if (!endpoint.starts_with(kTcp)) return false;
  const std::size_t colon = endpoint.rfind(':');
  const std::string host = endpoint.substr(kTcp.size(), colon - kTcp.size());
  const auto port = static_cast<in_port_t>(std::strtoul(endpoint.c_str() + colon + 1, nullptr, 10));
  if (host == "[::1]") {
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    address.sin6_port = htons(port);
    address.sin6_addr = in6addr_loopback;
    return ConnectsTo(AF_INET6, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  }
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  if (inet_pton(AF_INET, host == "localhost" ? "127.0.0.1" : host.c_str(), &address.sin_addr) != 1)
    return false;
  return ConnectsTo(AF_INET, reinterpret_cast<const sockaddr*>(&address), sizeof address);
}

}  // namespace skerry::cli
