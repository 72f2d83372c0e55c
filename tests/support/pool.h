// One broker and its workers, on private ipc endpoints, for as long as a test needs them.
//
//   Pool pool({.isolates = 2});
//   RunReport report = pool.Run({Job("a", "return 1")});
//
// Threads: start and stop it in one thread; Run may be called from several.
// Ownership: the destructor kills every process of the pool; what they leave behind is the kernel's to end,
// and tests of that look at /proc before the destructor. Errors: a process that does not come up fails the
// test and throws.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/support/child.h"
#include "tests/support/places.h"
#include "tests/support/skerry_run.h"

namespace skerry::testing {

struct PoolOptions {
  int isolates = 4;
  int spares = -1;  ///< below 0: the worker's own default
  int workers = 1;
  int memory_mb = 0;  ///< workerMemoryMb; 0: the worker's own default
  std::vector<std::string> broker_args = {};
  std::vector<std::string> worker_args = {};
  std::vector<std::string> worker_prefix = {};  ///< a program and its arguments that runs the worker
  std::string workers_connect_to = {};          ///< empty: worker_url()
  bool open_to_all = false;                     ///< workers of another user may reach the broker
};

class Pool {
 public:
  explicit Pool(PoolOptions options = {});
  ~Pool();

  RunReport Run(const std::vector<Job>& jobs, RunOptions options = {}) const;
  /// The one result of one job.
  JobResult RunOne(const Job& job, RunOptions options = {}) const;

  std::string client_url() const;
  std::string worker_url() const;
  Child& broker() { return *broker_; }
  Child& worker(std::size_t index = 0) { return *workers_.at(index); }
  std::size_t workers() const { return workers_.size(); }
  void AddWorker();
  /// Kills the broker; StartBroker starts another at the same endpoints.
  void KillBroker();
  void StartBroker();
  void RestartBroker();
  void KillWorker(std::size_t index);
  /// Another in the place of one that was killed.
  void StartWorker(std::size_t index);
  std::filesystem::path broker_log() const { return dir_ / "broker.log"; }
  /// Everything that the workers at this place have logged.
  std::filesystem::path worker_log(std::size_t index) const;
  /// Both programs' logs, for a failing test's message.
  std::string Logs() const;

 private:
  void OpenToAll();
  PoolOptions options_;
  TempDir dir_;
  std::unique_ptr<Child> broker_;
  std::vector<std::unique_ptr<Child>> workers_;
};

/// A fixture whose tests share one pool with default options.
class PoolTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite();
  static void TearDownTestSuite();
  /// Throws when the pool did not come up, so that each test fails by itself.
  static Pool& pool();
  static RunReport Run(const std::vector<Job>& jobs, RunOptions options = {}) {
    return pool().Run(jobs, std::move(options));
  }
  static JobResult RunOne(const Job& job, RunOptions options = {}) {
    return pool().RunOne(job, std::move(options));
  }
  void TearDown() override;

 private:
  static std::unique_ptr<Pool> pool_;
};

}  // namespace skerry::testing
