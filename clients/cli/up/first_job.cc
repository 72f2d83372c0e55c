#include "clients/cli/up/first_job.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>

#include <cstdlib>
#include <utility>
#include <variant>

#include "clients/cpp/client.h"
#include "clients/cpp/ipc_socket.h"
#include "common/fd.h"

namespace skerry::cli {
namespace {

constexpr Millis kLookUp{100};
constexpr Millis kConnectTimeout{250};

bool ConnectsTo(int family, const sockaddr* address, socklen_t size) {
  const Fd fd(socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return fd.valid() && connect(fd.get(), address, size) == 0;
}

}  // namespace

FirstJob::FirstJob(std::string endpoint) : endpoint_(std::move(endpoint)), thread_([this] { Work(); }) {}

FirstJob::~FirstJob() {
  stopping_ = true;
  thread_.join();
}

std::optional<TrialEnd> FirstJob::Ended() {
  const std::lock_guard lock(mutex_);
  return end_;
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
      const auto& error = final->outcome.error;
      // Its worker went away, and is started again.
      if (error && error->code == Code::kLost) return false;
      const std::lock_guard lock(mutex_);
      end_ = error ? TrialEnd{error->code, error->message} : TrialEnd{};
      return true;
    }
  }
  return true;
}

bool SomebodyListens(const std::string& endpoint) {
  constexpr std::string_view kIpc = "ipc://";
  constexpr std::string_view kTcp = "tcp://";
  if (endpoint.starts_with(kIpc)) {
    return client::ErrorOfConnectingTo(endpoint.substr(kIpc.size())) == 0;
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
