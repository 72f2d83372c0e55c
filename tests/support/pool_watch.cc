#include "tests/support/pool_watch.h"

#include "common/testing/proc_fs.h"

namespace skerry::testing {

Background::Background(const Pool& pool, std::vector<Job> jobs, RunOptions options)
    : thread_([this, &pool, jobs = std::move(jobs), options = std::move(options)] {
        report_ = pool.Run(jobs, options);
      }) {}

const RunReport& Background::Join() {
  if (thread_.joinable()) thread_.join();
  return report_;
}

std::set<pid_t> IdleChildren(Pool& pool) {
  EXPECT_TRUE(IsOk(pool.RunOne(Job("warm", "return 1")), Json(1))) << pool.Logs();
  return ChildrenOf(pool.worker().pid());
}

std::set<pid_t> CellsOf(pid_t worker) {
  auto cells = ChildrenOf(worker);
  std::erase_if(cells, [](pid_t pid) {
    const std::string name = StatusField(pid, "Name");
    return name.find("cell") == std::string::npos && name.find("node") == std::string::npos;
  });
  return cells;
}

std::set<pid_t> AwaitIsolates(pid_t worker, const std::set<pid_t>& idle, std::size_t count) {
  std::set<pid_t> isolates;
  for (int i = 0; i < 1000; ++i) {
    isolates.clear();
    for (const pid_t pid : ChildrenOf(worker)) {
      if (!idle.contains(pid) && !IsGone(pid)) isolates.insert(pid);
    }
    if (isolates.size() >= count) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_EQ(isolates.size(), count);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // for the job's bytes to arrive
  return isolates;
}

}  // namespace skerry::testing
