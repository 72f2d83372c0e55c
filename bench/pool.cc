#include "bench/pool.h"

#include <unistd.h>

#include <string_view>
#include <thread>

#include "common/units.h"

namespace skerry::bench {
namespace {

constexpr Millis kStart{10'000};
constexpr Millis kGrace{4'000};
constexpr Millis kLook{2};
constexpr std::string_view kIpc = "ipc://";

}  // namespace

Status AwaitBound(cli::ChildProcess& child, const std::string& endpoint) {
  const std::string socket = endpoint.substr(kIpc.size());
  for (const TimePoint until = SteadyClock::now() + kStart; access(socket.c_str(), F_OK) != 0;) {
    if (const auto ended = child.Ended())
      return Fail(ErrorKind::kUnavailable, child.program() + " " + *ended);
    if (SteadyClock::now() >= until)
      return Fail(ErrorKind::kUnavailable, child.program() + " did not start in time");
    std::this_thread::sleep_for(kLook);
  }
  return {};
}

Result<std::unique_ptr<Pool>> Pool::Start(const std::string& binaries, const PoolFlags& flags) {
  std::unique_ptr<Pool> pool(new Pool());
  auto folder = cli::PoolFolder::Make({"TMPDIR"});
  if (!folder) return Fail(folder.error());
  pool->folder_ = std::move(*folder);
  std::vector<std::string> arguments = {"--clients",     pool->clients(), "--workers",
                                        pool->workers(), "--log-level",   "warn"};
  arguments.insert(arguments.end(), flags.broker.begin(), flags.broker.end());
  auto broker = cli::ChildProcess::Start(binaries + "/skerry-broker", arguments, cli::Surroundings::kPrivate);
  if (!broker) return Fail(broker.error());
  pool->broker_ = std::move(*broker);
  if (auto bound = AwaitBound(*pool->broker_, pool->clients()); !bound) return Fail(bound.error());
  if (auto bound = AwaitBound(*pool->broker_, pool->workers()); !bound) return Fail(bound.error());
  if (!flags.worker) return pool;
  if (auto added = pool->AddWorker(binaries, *flags.worker); !added) return Fail(added.error());
  return pool;
}

Status Pool::AddWorker(const std::string& binaries, const std::vector<std::string>& flags) {
  std::vector<std::string> arguments = {"--broker", workers(), "--log-level", "warn"};
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  auto worker = cli::ChildProcess::Start(binaries + "/skerry-worker", arguments, cli::Surroundings::kPrivate);
  if (!worker) return Fail(worker.error());
  workers_.push_back(std::move(*worker));
  return {};
}

Pool::~Pool() {
  // The broker last: workers say BYE to it.
  std::vector<cli::ChildProcess*> workers;
  for (cli::ChildProcess& worker : workers_) workers.push_back(&worker);
  cli::StopTogether(workers, kGrace);
  if (broker_) broker_->Stop(kGrace);
}

}  // namespace skerry::bench
