// Long runs (label `full`): nothing that a job needed stays with the worker or the broker after it.
#include <cstdlib>

#include "tests/support/pool.h"
#include "tests/support/proc_fs.h"

namespace skerry::testing {
namespace {

std::uint64_t ResidentBytes(pid_t pid) {
  return std::strtoull(StatusField(pid, "VmRSS").c_str(), nullptr, 10) * 1024;
}

std::vector<Job> TrivialJobs(int count) {
  std::vector<Job> jobs;
  jobs.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    // A far deadline and a CPU bound each: a watchdog that is not cancelled would pile up.
    jobs.push_back(Job("j" + std::to_string(i), "console.log(input);return input+1")
                       .Set("input", i)
                       .Limit("timeoutMs", 600'000)
                       .Limit("cpuMs", 600'000));
  }
  return jobs;
}

TEST(Soak, TwentyThousandJobsLeaveWorkerAndBrokerNoLarger) {
  constexpr std::uint64_t kMostGrowth = 12 << 20;
  Pool pool;
  const RunOptions patient{.patience = std::chrono::minutes(8)};
  pool.Run(TrivialJobs(4000), patient);  // arenas, caches and buffers reach their size
  const std::uint64_t worker = ResidentBytes(pool.worker().pid());
  const std::uint64_t broker = ResidentBytes(pool.broker().pid());
  ASSERT_GT(worker, 0u);
  for (int round = 0; round < 4; ++round) {
    const auto report = pool.Run(TrivialJobs(4000), patient);
    for (int i = 0; i < 4000; ++i) ASSERT_TRUE(IsOk(report.At("j" + std::to_string(i)), i + 1));
  }
  EXPECT_LE(ResidentBytes(pool.worker().pid()), worker + kMostGrowth);
  EXPECT_LE(ResidentBytes(pool.broker().pid()), broker + kMostGrowth);
}

}  // namespace
}  // namespace skerry::testing
