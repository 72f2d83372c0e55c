#include "tests/support/pool.h"

#include <cstdio>
#include <stdexcept>
#include <thread>

namespace skerry::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

void AwaitSocket(const std::filesystem::path& path, Child& owner) {
  for (const auto end = steady_clock::now() + std::chrono::seconds(10); !std::filesystem::exists(path);) {
    if (!owner.IsRunning()) throw std::runtime_error("the broker ended before it listened");
    if (steady_clock::now() >= end)
      throw std::runtime_error("the broker does not listen on " + path.string());
    std::this_thread::sleep_for(milliseconds(2));
  }
}

}  // namespace

Pool::Pool(PoolOptions options) : options_(std::move(options)) {
  if (!StackIsBuilt()) throw std::runtime_error("the stack is not built in " + Binary("").string());
  StartBroker();
  for (int i = 0; i < options_.workers; ++i) AddWorker();
}

Pool::~Pool() = default;

void Pool::StartBroker() {
  std::vector<std::string> argv = {
      Binary("skerry-broker"), "--clients", client_url(), "--workers", worker_url(), "--allow-wasm"};
  argv.insert(argv.end(), options_.broker_args.begin(), options_.broker_args.end());
  broker_ = std::make_unique<Child>(
      argv, ChildStreams{.stdout_path = dir_ / "broker.log", .stderr_path = dir_ / "broker.log"});
  try {
    AwaitSocket(dir_ / "clients", *broker_);
    AwaitSocket(dir_ / "workers", *broker_);
    if (options_.open_to_all) OpenToAll();
  } catch (const std::exception& error) {
    throw std::runtime_error(std::string(error.what()) + "; its log: " + Logs());
  }
}

void Pool::OpenToAll() {
  using std::filesystem::perms;
  for (const auto& path : {dir_.path(), dir_ / "workers"}) std::filesystem::permissions(path, perms::all);
}

void Pool::KillBroker() {
  broker_.reset();
  for (const char* name : {"clients", "workers"}) std::filesystem::remove(dir_ / name);
}

void Pool::RestartBroker() {
  KillBroker();
  StartBroker();
}

std::string Pool::client_url() const {
  return "ipc://" + (dir_ / "clients").string();
}
std::string Pool::worker_url() const {
  return "ipc://" + (dir_ / "workers").string();
}

void Pool::AddWorker() {
  workers_.emplace_back();
  StartWorker(workers_.size() - 1);
}

void Pool::KillWorker(std::size_t index) {
  workers_.at(index).reset();
}

std::filesystem::path Pool::worker_log(std::size_t index) const {
  return dir_ / ("worker" + std::to_string(index) + ".log");
}

void Pool::StartWorker(std::size_t index) {
  std::vector<std::string> argv = options_.worker_prefix;
  argv.insert(argv.end(), {Binary("skerry-worker"), "--broker",
                           options_.workers_connect_to.empty() ? worker_url() : options_.workers_connect_to,
                           "--isolates", std::to_string(options_.isolates)});
  if (options_.spares >= 0) argv.insert(argv.end(), {"--spares", std::to_string(options_.spares)});
  if (options_.memory_mb > 0) argv.insert(argv.end(), {"--memory-mb", std::to_string(options_.memory_mb)});
  argv.insert(argv.end(), options_.worker_args.begin(), options_.worker_args.end());
  const auto log = worker_log(index);
  workers_.at(index) = std::make_unique<Child>(argv, ChildStreams{.stdout_path = log, .stderr_path = log});
}

std::string Pool::Logs() const {
  std::string logs = "broker: " + ReadFile(dir_ / "broker.log");
  for (std::size_t i = 0; i < workers_.size(); ++i)
    logs += "\nworker " + std::to_string(i) + ": " + ReadFile(worker_log(i));
  return logs;
}

RunReport Pool::Run(const std::vector<Job>& jobs, RunOptions options) const {
  options.broker = client_url();
  return RunJobs(jobs, options);
}

JobResult Pool::RunOne(const Job& job, RunOptions options) const {
  return Run({job}, std::move(options)).At(job.id());
}

std::unique_ptr<Pool> PoolTest::pool_;

void PoolTest::SetUpTestSuite() {
  pool_ = std::make_unique<Pool>();
}

void PoolTest::TearDownTestSuite() {
  pool_.reset();
}

Pool& PoolTest::pool() {
  if (!pool_) throw std::runtime_error("there is no pool to run this test on");
  return *pool_;
}

void PoolTest::TearDown() {
  if (HasFailure() && pool_) std::fprintf(stderr, "%s\n", pool_->Logs().c_str());
}

}  // namespace skerry::testing
