#include "tests/support/pool_watch.h"

#include <cstdlib>

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

pid_t NewestCellOf(Pool& pool, std::size_t worker) {
  constexpr std::string_view kPid = " pid=";
  const std::string log = ReadFile(pool.worker_log(worker));
  const std::size_t at = log.rfind("a cell is ready");
  const std::size_t pid = at == std::string::npos ? at : log.find(kPid, at);
  if (pid == std::string::npos) return 0;
  const pid_t cell = std::atoi(log.c_str() + pid + kPid.size());
  return ChildrenOf(pool.worker(worker).pid()).contains(cell) ? cell : 0;
}

void PrintTo(const Resources& resources, std::ostream* out) {
  *out << resources.broker_descriptors << " descriptors of the broker, " << resources.worker_descriptors
       << " of workers, " << resources.processes << " processes of workers";
}

namespace {

/// Whether a cell is there and no other is on its way to replace it.
bool HasSettled(Pool& pool, std::size_t worker) {
  const std::string log = ReadFile(pool.worker_log(worker));
  const std::size_t renewed = log.rfind("a cell is renewed");
  const bool replaced = renewed == std::string::npos || renewed < log.rfind("a cell is ready");
  return replaced && NewestCellOf(pool, worker) != 0;
}

void AwaitCells(Pool& pool) {
  // Of a hung cell (5 s), a back-off (10 s) and a start.
  constexpr std::chrono::seconds kPatience{30};
  const auto end = std::chrono::steady_clock::now() + kPatience;
  for (std::size_t i = 0; i < pool.workers(); ++i) {
    while (!HasSettled(pool, i) && std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

}  // namespace

Resources AtRest(Pool& pool) {
  AwaitCells(pool);
  // Spares of a cell that has been renewed keep its namespace alive until they get their job.
  std::vector<Job> jobs;
  for (std::size_t i = 0; i < 40 * pool.workers(); ++i)
    jobs.emplace_back("s" + std::to_string(i), "return 1");
  // Twice: by the first a cell that hung is found out, and one may come to its last fork.
  for (int round = 0; round < 2; ++round) {
    pool.Run(jobs);
    AwaitCells(pool);
  }
  const auto now = [&pool] {
    Resources resources{DescriptorsOf(pool.broker().pid())};
    for (std::size_t i = 0; i < pool.workers(); ++i) {
      resources.worker_descriptors += DescriptorsOf(pool.worker(i).pid());
      resources.processes += TreeOf(pool.worker(i).pid()).size();
    }
    return resources;
  };
  // Spares are forked, a client's socket is closed, in their own time.
  Resources last = now();
  for (int same = 0; same < 30; ++same) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const Resources next = now();
    if (!(next == last)) same = 0;
    last = next;
  }
  return last;
}

}  // namespace skerry::testing
