// A pool's processes while jobs run on it.
//
//   Pool pool({.isolates = 1, .spares = 0});
//   const auto idle = IdleChildren(pool);
//   Background run(pool, {Job("a", "for(;;);")});
//   for (pid_t pid : AwaitIsolates(pool.worker().pid(), idle, 1)) kill(pid, SIGSEGV);
//   EXPECT_TRUE(IsError(run.Join().At("a"), "CRASH"));
//
// Threads: a Background has one; the test's own thread does the rest. Errors: processes that do not come fail
// the test.
#pragma once

#include <ostream>
#include <set>
#include <thread>
#include <vector>

#include "tests/support/pool.h"

namespace skerry::testing {

/// Runs jobs in a thread of its own while the test looks at the stack, or breaks something.
class Background {
 public:
  Background(const Pool& pool, std::vector<Job> jobs, RunOptions options = {});
  ~Background() { Join(); }
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  /// Waits for the end of the run.
  const RunReport& Join();

 private:
  RunReport report_;
  std::thread thread_;
};

/// The worker's children when it has run a job and is idle: its cell and the cell's init stub, if there are
/// no spares.
std::set<pid_t> IdleChildren(Pool& pool);

/// The cells among a worker's children, and any isolates: what runs V8.
std::set<pid_t> CellsOf(pid_t worker);

/// The worker's children beyond those in `idle`, once there are `count` and have had the time to get their
/// jobs.
std::set<pid_t> AwaitIsolates(pid_t worker, const std::set<pid_t>& idle, std::size_t count);

/// The pid of the worker's newest cell, as its log tells; 0: there is none yet, or it has gone.
pid_t NewestCellOf(Pool& pool, std::size_t worker = 0);

/// What a pool holds on to. Workers' figures are sums.
struct Resources {
  std::size_t broker_descriptors = 0;
  std::size_t worker_descriptors = 0;
  std::size_t processes = 0;
  bool operator==(const Resources&) const = default;
};
void PrintTo(const Resources& resources, std::ostream* out);

/// Once nothing moves any more. Runs jobs before, which use up what is left of earlier cells.
Resources AtRest(Pool& pool);

}  // namespace skerry::testing
