// skerry-broker: options in, BrokerServer out.
#include <spdlog/spdlog.h>
#include <sys/signalfd.h>
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <string>
#include <vector>

#include "broker/broker_server.h"
#include "common/fd.h"
#include "common/hash.h"
#include "common/logging.h"

namespace skerry::broker {
namespace {

constexpr int kExitUsage = 2;
constexpr int kExitUnavailable = 69;

constexpr const char* kExamples =
    "Queues JavaScript jobs from clients and feeds them to workers.\n\n"
    "Examples:\n"
    "  skerry-broker --clients ipc:///run/skerry/clients --workers ipc:///run/skerry/workers\n"
    "  skerry-broker --clients tcp://127.0.0.1:7001 --workers tcp://127.0.0.1:7002 --metrics 127.0.0.1:9090\n"
    "  skerry-broker --clients tcp://127.0.0.1:7001 --workers tcp://127.0.0.1:7002 --ceiling "
    "timeoutMs=60000\n";

/// "name=value" into the ceilings.
Status SetCeiling(const std::string& text, Ceilings& ceilings) {
  const std::size_t equals = text.find('=');
  const auto id = LimitByName(std::string_view(text).substr(0, equals));
  if (equals == std::string::npos || !id) {
    return Fail(ErrorKind::kInvalid,
                "--ceiling " + text + ": must be LIMIT=VALUE with a limit such as timeoutMs");
  }
  std::uint64_t value = 0;
  const char* begin = text.data() + equals + 1;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(begin, end, value);
  if (error != std::errc() || stop != end) {
    return Fail(ErrorKind::kInvalid, "--ceiling " + text + ": the value must be a whole number");
  }
  ceilings.Set(*id, value);
  return {};
}

/// SIGTERM and SIGINT as a readable descriptor, in every thread started after this.
Fd StopSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return Fd(signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
}

int Complain(const Error& error, int code) {
  std::fprintf(stderr, "skerry-broker: %s\n", error.message.c_str());
  return code;
}

/// A number no earlier broker is likely to have counted past; room for 2^32 leases above it.
std::uint64_t RandomFirstLease() {
  return (std::stoull(RandomHex(3), nullptr, 16) << 32) + 1;
}

int Serve(ServerOptions options, const std::string& log_level) {
  if (auto logging = InitLogging("broker", log_level); !logging) return Complain(logging.error(), kExitUsage);
  const Fd stop = StopSignals();
  if (!stop.valid()) return Complain({ErrorKind::kInternal, "signalfd failed"}, kExitUnavailable);
  umask(0077);  // ipc:// sockets are for this user only
  options.config.first_lease = RandomFirstLease();
  auto server = BrokerServer::Start(options);
  if (!server) {
    return Complain(server.error(),
                    server.error().kind == ErrorKind::kInvalid ? kExitUsage : kExitUnavailable);
  }
  spdlog::info("serving");
  (*server)->Run(stop.get());
  spdlog::info("stopped");
  return 0;
}

int Main(int argc, char** argv) {
  CLI::App app(kExamples, "skerry-broker");
  ServerOptions options;
  std::string log_level = "info";
  std::vector<std::string> ceilings;
  std::uint64_t max_queued_mib = options.config.max_queued_bytes.mib();
  std::uint64_t heartbeat_ms = 1000;
  std::uint64_t peer_timeout_ms = 10'000;
  std::uint64_t session_ttl_ms = 30'000;
  app.add_option("--clients", options.client_endpoints, "endpoint for clients, repeatable")->required();
  app.add_option("--workers", options.worker_endpoints, "endpoint for workers, repeatable")->required();
  app.add_option("--max-queued", options.config.max_queued, "jobs that may wait (100000)");
  app.add_option("--max-queued-mib", max_queued_mib, "their code and input together, MiB (1024)");
  app.add_option("--client-credit", options.config.client_credit, "unfinished jobs per client (1024)");
  app.add_option("--ceiling", ceilings, "LIMIT=VALUE, the most a job may ask for, repeatable");
  app.add_flag("--allow-wasm", options.config.allow_wasm, "let jobs ask for WebAssembly (off)");
  app.add_option("--heartbeat-ms", heartbeat_ms, "PING every so often (1000)");
  app.add_option("--peer-timeout-ms", peer_timeout_ms, "a peer silent this long is gone (10000)");
  app.add_option("--session-ttl-ms", session_ttl_ms,
                 "jobs and finals outlive a lost client this long (30000)");
  app.add_option("--metrics", options.metrics, "HOST:PORT on loopback for /metrics, /livez, /readyz (off)");
  app.add_option("--log-level", log_level, "trace, debug, info, warn, error or off (info)");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : kExitUsage;
  }
  options.config.max_queued_bytes = Bytes::MiB(max_queued_mib);
  options.config.heartbeat = Millis(heartbeat_ms);
  options.config.peer_timeout = Millis(peer_timeout_ms);
  options.config.session_ttl = Millis(session_ttl_ms);
  for (const std::string& ceiling : ceilings) {
    if (auto set = SetCeiling(ceiling, options.config.ceilings); !set)
      return Complain(set.error(), kExitUsage);
  }
  return Serve(std::move(options), log_level);
}

}  // namespace
}  // namespace skerry::broker

int main(int argc, char** argv) {
  return skerry::broker::Main(argc, argv);
}
