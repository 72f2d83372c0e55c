// skerry-broker: options in, BrokerServer out.
#include <sys/signalfd.h>
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <initializer_list>
#include <string>
#include <utility>

#include "broker/settings.h"
#include "common/config/command_line.h"
#include "common/descriptors.h"
#include "common/fd.h"
#include "common/hash.h"
#include "common/logging.h"
#include "common/version.h"

namespace skerry::broker {
namespace {

constexpr int kExitUnavailable = 69;

constexpr const char* kExamples =
    "  skerry-broker --clients ipc:///run/skerry/clients --workers ipc:///run/skerry/workers\n"
    "  skerry-broker --clients 'tcp://*:7001' --workers 'tcp://*:7002' --key broker.key --authorized "
    "authorized.toml\n"
    "  skerry-broker --config /etc/skerry/skerry.toml --ceiling timeoutMs=60000\n"
    "  skerry-broker --print-config\n";

constexpr const char* kAbout =
    "Queues JavaScript jobs from clients and feeds them to workers.\n\n"
    "Each setting is a flag, a variable (--max-queued: SKERRY_BROKER_MAX_QUEUED) and a key of skerry.toml\n"
    "(max_queued in [broker]); a flag wins over a variable, a variable over the file.\n"
    "SIGHUP: read --authorized and --tenants again; who is authorized no more is cut off, all others go on.\n"
    "SIGTERM or SIGINT: stop; clients and workers connect again to the next broker.";

/// Signals as a readable descriptor, in every thread started after this.
Fd Signals(std::initializer_list<int> numbers) {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : numbers) sigaddset(&signals, number);
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

int Serve(BrokerOptions options, const std::string& config_file) {
  if (auto logging = InitLogging("broker", options.log_level, options.log_format); !logging) {
    return Complain(logging.error(), config::kExitUsage);
  }
  const Fd stop = Signals({SIGTERM, SIGINT});
  // Where there is nothing to read again, too: a needless `systemctl reload` must not end it.
  const Fd reload = Signals({SIGHUP});
  if (!stop.valid() || !reload.valid())
    return Complain({ErrorKind::kInternal, "signalfd failed"}, kExitUnavailable);
  umask(0077);  // ipc:// sockets are for this user only
  options.server.config.first_lease = RandomFirstLease();
  auto server = BrokerServer::Start(options.server);
  if (!server) {
    return Complain(server.error(),
                    server.error().kind == ErrorKind::kInvalid ? config::kExitUsage : kExitUnavailable);
  }
  // Two for each peer at the most, and libzmq ends the process when an ipc endpoint has none left to accept
  // with.
  constexpr std::uint64_t kOwn = 64;
  const std::uint64_t wanted = 2 * options.server.config.max_peers + kOwn;
  if (const std::uint64_t files = RaiseDescriptorLimit(); files < wanted) {
    log::Warn(
        "too few descriptors for max_peers: raise the limit (LimitNOFILE=, ulimit -Hn) or lower max_peers",
        {{"descriptors", files}, {"wanted", wanted}});
  }
  log::Info("serving", {{"configuration", config_file.empty() ? "no file" : config_file}});
  (*server)->Run(stop.get(), reload.get());
  log::Info("stopped");
  return 0;
}

int Main(int argc, char** argv) {
  BrokerOptions options;
  config::Settings settings("broker");
  Describe(settings, options);
  CLI::App app("", "skerry-broker");
  config::SetHelp(app, {kExamples, kAbout});
  config::CommandLine line(app, "skerry-broker");
  line.Add(settings);
  line.AddPrint();
  app.set_version_flag("--version", "skerry-broker " + std::string(kSkerryVersion));
  if (const auto status = config::ParseArguments(app, argc, argv)) return *status;
  const auto start = line.Configure(settings, [&] {
    auto valid = options.server.Validate();
    return valid ? CheckDoorFiles(options.server.door) : valid;
  });
  if (start.exit) return *start.exit;
  return Serve(std::move(options), start.file);
}

}  // namespace
}  // namespace skerry::broker

int main(int argc, char** argv) {
  skerry::FillStandardDescriptors();
  return skerry::broker::Main(argc, argv);
}
