// How many isolates run at once, and how much memory is promised at once.
#include <atomic>
#include <thread>

#include "common/testing/proc_fs.h"
#include "tests/support/pool.h"

namespace skerry::testing {
namespace {

constexpr int kSlots = 3;

// A job that lasts 150 ms without using a processor, and says when it ran.
Job Timed(const std::string& id) {
  return Job(id, "const from=Date.now();await dataProxy.request('wait');return [from,Date.now()]");
}

RunOptions Waiting() {
  return {.fixtures = Json{{"wait", {{"$value", 1}, {"$delayMs", 150}}}}};
}

// The most of the intervals [from, to) that hold one instant in common.
int MostAtOnce(const RunReport& report) {
  std::vector<std::pair<double, double>> spans;
  for (const auto& [id, result] : report.results) {
    if (IsOk(result)) spans.emplace_back(result.value().at(0), result.value().at(1));
  }
  int most = 0;
  for (const auto& [instant, unused] : spans) {
    int running = 0;
    for (const auto& [from, to] : spans) running += from <= instant && instant < to;
    most = std::max(most, running);
  }
  return most;
}

// Watches a worker's children while it lives; those that were there before the jobs are its cell and init
// stub.
class IsolateCounter {
 public:
  explicit IsolateCounter(pid_t worker) : worker_(worker), idle_(ChildrenOf(worker)) {
    thread_ = std::thread([this] {
      while (!stop_) {
        int isolates = 0;
        for (const pid_t pid : ChildrenOf(worker_)) isolates += !idle_.contains(pid) && !IsGone(pid);
        most_ = std::max(most_.load(), isolates);
        std::this_thread::sleep_for(std::chrono::milliseconds(3));
      }
    });
  }
  ~IsolateCounter() { Stop(); }
  int Stop() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
    return most_;
  }

 private:
  pid_t worker_;
  std::set<pid_t> idle_;
  std::atomic<bool> stop_ = false;
  std::atomic<int> most_ = 0;
  std::thread thread_;
};

TEST(Capacity, MoreJobsThanSlotsNeverRunMoreThanTheSlotsAtOnce) {
  Pool pool({.isolates = kSlots, .spares = 0});
  ASSERT_TRUE(IsOk(pool.RunOne(Job("warm", "return 1")), Json(1))) << pool.Logs();
  IsolateCounter counter(pool.worker().pid());
  std::vector<Job> jobs;
  for (int i = 0; i < 4 * kSlots + 1; ++i) jobs.push_back(Timed("j" + std::to_string(i)));
  const auto report = pool.Run(jobs, Waiting());
  for (const auto& job : jobs) EXPECT_TRUE(IsOk(report.At(job.id())));
  EXPECT_EQ(MostAtOnce(report), kSlots) << "the slots were exceeded, or never all used";
  const int most = counter.Stop();
  EXPECT_LE(most, kSlots);
  EXPECT_GE(most, kSlots - 1) << "the watch saw too few isolates to mean anything";
}

TEST(Capacity, OneJobMoreThanTheSlotsWaitsForAFreeOne) {
  Pool pool({.isolates = kSlots});
  ASSERT_TRUE(IsOk(pool.RunOne(Job("warm", "return 1")), Json(1))) << pool.Logs();
  std::vector<Job> jobs;
  for (int i = 0; i < kSlots + 1; ++i) jobs.push_back(Timed("j" + std::to_string(i)));
  const auto report = pool.Run(jobs, Waiting());
  int waited = 0;
  for (const auto& job : jobs) {
    ASSERT_TRUE(IsOk(report.At(job.id())));
    waited += report.At(job.id()).Usage("queueMs") >= 100;
  }
  EXPECT_EQ(waited, 1);
  EXPECT_EQ(MostAtOnce(report), kSlots);
}

TEST(Capacity, AFailFastJobPastTheSlotsIsOverloadedInsteadOfQueued) {
  Pool pool({.isolates = 1});
  ASSERT_TRUE(IsOk(pool.RunOne(Job("warm", "return 1")), Json(1))) << pool.Logs();
  const auto report = pool.Run({Timed("holds"), Timed("refused").Set("admission", "failFast")}, Waiting());
  EXPECT_TRUE(IsOk(report.At("holds")));
  const auto& refused = report.At("refused");
  EXPECT_TRUE(IsError(refused, "OVERLOADED", "maxConcurrentIsolates"));
  EXPECT_EQ(refused.Error("fault"), "infrastructure");
  EXPECT_EQ(refused.Error("started"), false);
  EXPECT_EQ(refused.Error("retryable"), true);
}

// Budgets of 200 MB against a worker of about 500: two at a time, though there are four slots.
TEST(Capacity, AdmittedBudgetsNeverExceedTheWorkersMemory) {
  Pool pool({.isolates = 4, .memory_mb = 560});
  std::vector<Job> jobs;
  for (int i = 0; i < 6; ++i) jobs.push_back(Timed("j" + std::to_string(i)).Limit("memoryMb", 200));
  const auto report = pool.Run(jobs, Waiting());
  for (const auto& job : jobs) EXPECT_TRUE(IsOk(report.At(job.id())));
  EXPECT_EQ(MostAtOnce(report), 2) << pool.Logs();
}

TEST(Capacity, SmallBudgetsFillEverySlotOfTheSameWorker) {
  Pool pool({.isolates = 4, .memory_mb = 560});
  ASSERT_TRUE(IsOk(pool.RunOne(Job("warm", "return 1")), Json(1))) << pool.Logs();
  std::vector<Job> jobs;
  for (int i = 0; i < 8; ++i) jobs.push_back(Timed("j" + std::to_string(i)).Limit("memoryMb", 32));
  EXPECT_EQ(MostAtOnce(pool.Run(jobs, Waiting())), 4) << pool.Logs();
}

TEST(Capacity, ABudgetNoWorkerHasIsRefusedAndDoesNotBlockTheOthers) {
  Pool pool({.isolates = 2, .memory_mb = 400});
  ASSERT_TRUE(IsOk(pool.RunOne(Job("warm", "return 1").Limit("memoryMb", 64)), Json(1))) << pool.Logs();
  const auto report = pool.Run({Job("huge", "return 1").Limit("memoryMb", 900).Set("admission", "failFast"),
                                Job("small", "return 2").Limit("memoryMb", 64)});
  EXPECT_FALSE(report.At("huge").ok());
  EXPECT_EQ(report.At("huge").Error("started"), false);
  EXPECT_TRUE(IsOk(report.At("small"), 2));
}

TEST(Capacity, TwoWorkersShareTheJobs) {
  Pool pool({.isolates = 2, .workers = 2});
  std::vector<Job> jobs;
  for (int i = 0; i < 12; ++i) jobs.push_back(Timed("j" + std::to_string(i)));
  EXPECT_EQ(MostAtOnce(pool.Run(jobs, Waiting())), 4) << pool.Logs();
}

// Sockets and pidfds travel between worker and cell; the kernel bounds how many may be under way at once.
TEST(Capacity, ABurstOnManySlotsRunsWhole) {
  for (const int spares : {0, 32}) {
    Pool pool({.isolates = 32, .spares = spares, .memory_mb = 16'384});
    std::vector<Job> jobs;
    for (int i = 0; i < 96; ++i)
      jobs.push_back(Job("j" + std::to_string(i), "return 1+1").Limit("memoryMb", 64));
    for (int round = 0; round < 2; ++round) {
      const auto report = pool.Run(jobs, {.patience = std::chrono::seconds(20)});
      for (const auto& job : jobs)
        ASSERT_TRUE(IsOk(report.At(job.id()), 2)) << spares << " spares; " << pool.Logs();
    }
  }
}

TEST(Capacity, AThousandJobsLeaveNoIsolateBehind) {
  Pool pool({.isolates = 4, .spares = 0});
  ASSERT_TRUE(IsOk(pool.RunOne(Job("warm", "return 1")), Json(1))) << pool.Logs();
  const auto idle = ChildrenOf(pool.worker().pid());
  std::vector<Job> jobs;
  for (int i = 0; i < 1000; ++i) jobs.emplace_back("j" + std::to_string(i), "return " + std::to_string(i));
  const auto report = pool.Run(jobs);
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(IsOk(report.At("j" + std::to_string(i)), i));
  EXPECT_EQ(ChildrenOf(pool.worker().pid()), idle);
}

}  // namespace
}  // namespace skerry::testing
