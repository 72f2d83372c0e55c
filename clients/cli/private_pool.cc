#include "clients/cli/private_pool.h"

#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <thread>
#include <utility>

#include "clients/cli/exit_codes.h"

namespace skerry::cli {
namespace {

// A worker ends its isolates and a broker its sockets well within this; a run must not hang on one that does
// not.
constexpr Millis kGrace{4'000};
constexpr Millis kBrokerStart{10'000};
constexpr Millis kPollInterval{5};

/// 80 % of the machine for all workers together: each one's own default would count it whole.
std::uint64_t SharedMemoryMb(std::uint64_t workers) {
  struct sysinfo info {};
  sysinfo(&info);
  const std::uint64_t total_mb = (static_cast<std::uint64_t>(info.totalram) * info.mem_unit) >> 20;
  return std::max<std::uint64_t>(total_mb * 8 / 10 / workers, 1);
}

void Add(std::vector<std::string>& arguments, const char* name, const std::string& value) {
  if (value.empty()) return;
  arguments.emplace_back(name);
  arguments.push_back(value);
}

void Add(std::vector<std::string>& arguments, const char* name, const std::optional<std::uint64_t>& value) {
  if (value) Add(arguments, name, std::to_string(*value));
}

}  // namespace

Result<std::unique_ptr<PrivatePool>> PrivatePool::Start(const PoolOptions& options) {
  auto binaries = OwnFolder();
  if (!binaries) return Fail(binaries.error());
  std::unique_ptr<PrivatePool> pool(new PrivatePool());
  if (auto made = pool->MakeFolder(); !made) return Fail(made.error());
  if (auto started = pool->StartBroker(*binaries, options); !started) return Fail(started.error());
  // Workers start while the broker binds: they retry.
  for (std::uint64_t i = 0; i < options.workers; ++i) {
    if (auto started = pool->StartWorker(*binaries, options); !started) return Fail(started.error());
  }
  if (auto ready = pool->AwaitBroker(); !ready) return Fail(ready.error());
  return pool;
}

Status PrivatePool::MakeFolder() {
  const char* base = std::getenv("TMPDIR");
  // A Unix socket's path holds 107 bytes: a long TMPDIR cannot carry one.
  constexpr std::size_t kLongestBase = 60;
  std::string pattern =
      base != nullptr && *base == '/' && std::string_view(base).size() <= kLongestBase ? base : "/tmp";
  pattern += "/skerry-XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr)
    return FailErrno("cannot make a folder like " + pattern);  // mode 0700
  folder_ = pattern;
  client_endpoint_ = "ipc://" + folder_ + "/clients";
  worker_endpoint_ = "ipc://" + folder_ + "/workers";
  return {};
}

Status PrivatePool::StartBroker(const std::string& binaries, const PoolOptions& options) {
  std::vector<std::string> arguments = {"--clients",      client_endpoint_, "--workers",
                                        worker_endpoint_, "--log-level",    options.log_level};
  // Whoever starts a pool for himself is its operator: a job that asks for WebAssembly has been allowed it.
  arguments.push_back("--allow-wasm");
  for (const std::string& ceiling : options.ceilings) Add(arguments, "--ceiling", ceiling);
  auto child = ChildProcess::Start(binaries + "/skerry-broker", arguments);
  if (!child) return Fail(child.error());
  broker_.push_back(std::move(*child));
  return {};
}

Status PrivatePool::StartWorker(const std::string& binaries, const PoolOptions& options) {
  std::vector<std::string> arguments = {"--broker", worker_endpoint_, "--log-level", options.log_level};
  Add(arguments, "--isolates", options.isolates);
  Add(arguments, "--spares", options.spares);
  Add(arguments, "--jit", options.jit);
  // A ceiling over what cells are made for by default is a wish for larger ones.
  constexpr std::string_view kMemoryCeiling = "memoryMb=";
  for (const std::string& ceiling : options.ceilings) {
    if (ceiling.starts_with(kMemoryCeiling))
      Add(arguments, "--max-job-memory-mb", ceiling.substr(kMemoryCeiling.size()));
  }
  std::optional<std::uint64_t> memory_mb = options.memory_mb;
  if (!memory_mb && options.workers > 1) memory_mb = SharedMemoryMb(options.workers);
  Add(arguments, "--memory-mb", memory_mb);
  const std::string program =
      options.worker_program.empty() ? binaries + "/skerry-worker" : options.worker_program;
  auto child = ChildProcess::Start(program, arguments);
  if (!child) return Fail(child.error());
  workers_.push_back(std::move(*child));
  return {};
}

Status PrivatePool::AwaitBroker() {
  const std::string socket = folder_ + "/clients";
  for (const TimePoint until = SteadyClock::now() + kBrokerStart; access(socket.c_str(), F_OK) != 0;) {
    if (auto failure = Failure()) return Fail(*failure);
    if (SteadyClock::now() >= until)
      return Fail(ErrorKind::kUnavailable, "the private broker did not start in time");
    std::this_thread::sleep_for(kPollInterval);
  }
  return {};
}

std::optional<Error> PrivatePool::Failure() {
  for (auto* children : {&broker_, &workers_}) {
    for (ChildProcess& child : *children) {
      const auto ended = child.Ended();
      if (!ended) continue;
      // It has said on stderr what is wrong with what we passed on to it.
      const bool refused = child.exit_status() == kExitUsage;
      return Error{refused ? ErrorKind::kInvalid : ErrorKind::kUnavailable, child.program() + " " + *ended};
    }
  }
  return std::nullopt;
}

PrivatePool::~PrivatePool() {
  // All at once first, so that their graces overlap; the broker last, workers say BYE to it.
  for (ChildProcess& worker : workers_) worker.Terminate();
  for (ChildProcess& worker : workers_) worker.Stop(kGrace);
  for (ChildProcess& broker : broker_) broker.Stop(kGrace);
  std::error_code ignored;
  if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
}

}  // namespace skerry::cli
