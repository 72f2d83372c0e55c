#include "clients/cli/private_pool.h"

#include <unistd.h>

#include <thread>
#include <utility>

#include "clients/cli/exit_codes.h"
#include "clients/cli/interrupt.h"

namespace skerry::cli {
namespace {

// A worker ends its isolates and a broker its sockets well within this; a run must not hang on one that does
// not.
constexpr Millis kGrace{4'000};
constexpr Millis kBrokerStart{10'000};
constexpr Millis kPollInterval{5};

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
  auto folder = PoolFolder::Make({"TMPDIR"});
  if (!folder) return Fail(folder.error());
  pool->folder_ = std::move(*folder);
  pool->client_endpoint_ = pool->folder_.Endpoint("clients");
  pool->worker_endpoint_ = pool->folder_.Endpoint("workers");
  if (auto started = pool->StartBroker(*binaries, options); !started) return Fail(started.error());
  // Workers start while the broker binds: they retry.
  for (std::uint64_t i = 0; i < options.workers; ++i) {
    if (auto started = pool->StartWorker(*binaries, options); !started) return Fail(started.error());
  }
  if (auto ready = pool->AwaitBroker(); !ready) return Fail(ready.error());
  return pool;
}

Status PrivatePool::StartBroker(const std::string& binaries, const PoolOptions& options) {
  std::vector<std::string> arguments = {"--clients",      client_endpoint_, "--workers",
                                        worker_endpoint_, "--log-level",    options.log_level};
  // Whoever starts a pool for himself is its operator: a job that asks for WebAssembly has been allowed it.
  arguments.push_back("--allow-wasm");
  // There is no other tenant to protect, and he wants a verdict for every line (decision 13).
  Add(arguments, "--program-crashes", "0");
  Add(arguments, "--tenant-crashes", "0");
  for (const LimitSpec& spec : kLimitSpecs) {
    const std::uint64_t ceiling = options.ceilings.Get(spec.id);
    if (ceiling != spec.default_ceiling)
      Add(arguments, "--ceiling", std::string(spec.name) + "=" + std::to_string(ceiling));
  }
  auto child = ChildProcess::Start(binaries + "/skerry-broker", arguments, Surroundings::kPrivate);
  if (!child) return Fail(child.error());
  broker_.push_back(std::move(*child));
  return {};
}

Status PrivatePool::StartWorker(const std::string& binaries, const PoolOptions& options) {
  std::vector<std::string> arguments = {"--broker", worker_endpoint_, "--log-level", options.log_level};
  Add(arguments, "--isolates", options.isolates);
  Add(arguments, "--spares", options.spares);
  Add(arguments, "--jit", options.jit);
  if (options.sandbox != kDefaultSandbox) Add(arguments, "--sandbox", options.sandbox);
  // A ceiling over what cells are made for by default is a wish for larger ones.
  const std::uint64_t job_memory_mb = options.ceilings.Get(LimitId::kMemoryMb);
  if (job_memory_mb != SpecOf(LimitId::kMemoryMb).default_ceiling)
    Add(arguments, "--max-job-memory-mb", std::to_string(job_memory_mb));
  std::optional<std::uint64_t> memory_mb = options.memory_mb;
  if (!memory_mb && options.workers > 1) memory_mb = SharedMemoryMb(options.workers);
  Add(arguments, "--memory-mb", memory_mb);
  for (const std::string& library : options.libraries) Add(arguments, "--library", library);
  const std::string program =
      options.worker_program.empty() ? binaries + "/skerry-worker" : options.worker_program;
  auto child = ChildProcess::Start(program, arguments, Surroundings::kPrivate);
  if (!child) return Fail(child.error());
  workers_.push_back(std::move(*child));
  return {};
}

Status PrivatePool::AwaitBroker() {
  const std::string socket = folder_.path() + "/clients";
  for (const TimePoint until = SteadyClock::now() + kBrokerStart; access(socket.c_str(), F_OK) != 0;) {
    if (auto failure = Failure()) return Fail(*failure);
    if (Interrupts() > 0) return Fail(ErrorKind::kUnavailable, "interrupted");
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
      if (child.exit_status() == kExitUsage) {
        const std::string name = child.program().substr(child.program().rfind('/') + 1);
        return Error{ErrorKind::kInvalid, "nothing was run: what " + name + " cannot take is above"};
      }
      return Error{ErrorKind::kUnavailable, child.program() + " " + *ended};
    }
  }
  return std::nullopt;
}

PrivatePool::~PrivatePool() {
  // The broker last: workers say BYE to it.
  std::vector<ChildProcess*> workers;
  for (ChildProcess& worker : workers_) workers.push_back(&worker);
  StopTogether(workers, kGrace);
  for (ChildProcess& broker : broker_) broker.Stop(kGrace);
}

}  // namespace skerry::cli
