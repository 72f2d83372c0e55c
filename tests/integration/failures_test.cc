// What happens to jobs, and to processes, when a part of the stack dies.
#include <signal.h>

#include <thread>

#include "common/testing/proc_fs.h"
#include "tests/support/pool.h"
#include "tests/support/pool_watch.h"

namespace skerry::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// A pool whose broker finds a dead worker within half a second.
PoolOptions Watchful(int workers = 1) {
  return {.isolates = 2,
          .spares = 0,
          .workers = workers,
          .broker_args = {"--heartbeat-ms", "100", "--peer-timeout-ms", "500"}};
}

RunOptions Waiting(int ms) {
  return {.fixtures = Json{{"w", {{"$value", 1}, {"$delayMs", ms}}}}};
}

Job Waiter(const std::string& id) {
  return Job(id, "await dataProxy.request('w');return 'done'");
}
Job Spinner(const std::string& id, int ms) {
  return Job(id, "const t=Date.now();while(Date.now()-t<" + std::to_string(ms) + ");return 'done'");
}

TEST(WorkerDeath, LeavesNoProcessBehind) {
  Pool pool(Watchful());
  const auto idle = IdleChildren(pool);
  Background run(pool,
                 {Spinner("a", 60'000).Set("retry", "never"), Spinner("b", 60'000).Set("retry", "never")});
  AwaitIsolates(pool.worker().pid(), idle, 2);
  const auto tree = TreeOf(pool.worker().pid());
  EXPECT_GE(tree.size(), 4u);  // worker, cell, two isolates
  pool.worker().Signal(SIGKILL);
  for (const pid_t pid : tree) EXPECT_TRUE(IsGoneWithin(pid, seconds(3))) << StatusField(pid, "Name");
  for (const char* id : {"a", "b"}) {
    const auto& result = run.Join().At(id);
    EXPECT_TRUE(IsError(result, "LOST"));
    EXPECT_EQ(result.Error("fault"), "infrastructure");
    EXPECT_EQ(result.Error("retryable"), true);
  }
}

TEST(WorkerDeath, ASafeJobThatMadeNoHostCallRunsAgainElsewhere) {
  Pool pool(Watchful());
  const auto idle = IdleChildren(pool);
  Background run(pool, {Spinner("safe", 1500)});
  AwaitIsolates(pool.worker().pid(), idle, 1);
  pool.AddWorker();
  std::this_thread::sleep_for(milliseconds(300));
  pool.worker(0).Signal(SIGKILL);
  const auto& result = run.Join().At("safe");
  EXPECT_TRUE(IsOk(result, "done"));
  EXPECT_EQ(result.Field("attempt"), 2);
}

TEST(WorkerDeath, ASafeJobThatMadeAHostCallIsLostAndAnAlwaysJobIsNot) {
  Pool pool(Watchful());
  const auto idle = IdleChildren(pool);
  Background run(pool, {Waiter("safe"), Waiter("always").Set("retry", "always")}, Waiting(1500));
  AwaitIsolates(pool.worker().pid(), idle, 2);
  pool.AddWorker();
  std::this_thread::sleep_for(milliseconds(300));
  pool.worker(0).Signal(SIGKILL);
  EXPECT_TRUE(IsError(run.Join().At("safe"), "LOST"));
  EXPECT_TRUE(IsOk(run.Join().At("always"), "done"));
  EXPECT_EQ(run.Join().At("always").Field("attempt"), 2);
}

TEST(WorkerDeath, AQueuedJobWaitsForTheNextWorker) {
  Pool pool({.workers = 0});
  Background run(pool, {Job("a", "return 5")});
  std::this_thread::sleep_for(milliseconds(300));
  pool.AddWorker();
  EXPECT_TRUE(IsOk(run.Join().At("a"), 5));
}

TEST(WorkerDrain, FinishesWhatRunsAndExitsZeroOnTheFirstSigterm) {
  Pool pool(Watchful());
  const auto idle = IdleChildren(pool);
  Background run(pool, {Waiter("a")}, Waiting(800));
  AwaitIsolates(pool.worker().pid(), idle, 1);
  pool.worker().Signal(SIGTERM);
  EXPECT_TRUE(IsOk(run.Join().At("a"), "done"));
  EXPECT_EQ(run.Join().At("a").Field("attempt"), 1);
  EXPECT_EQ(pool.worker().Wait(seconds(5)), 0);
}

TEST(WorkerDrain, TakesNoNewJobs) {
  Pool pool(Watchful());
  const auto idle = IdleChildren(pool);
  Background run(pool, {Waiter("runs")}, Waiting(1000));
  AwaitIsolates(pool.worker().pid(), idle, 1);
  pool.worker().Signal(SIGTERM);
  std::this_thread::sleep_for(milliseconds(200));
  Background later(pool, {Job("later", "return 'on the new worker'")});
  std::this_thread::sleep_for(milliseconds(200));
  pool.AddWorker();
  EXPECT_TRUE(IsOk(later.Join().At("later"), "on the new worker"));
  EXPECT_TRUE(IsOk(run.Join().At("runs"), "done"));
}

TEST(WorkerDrain, ASecondSigtermEndsItAtOnceWithNothingLeft) {
  Pool pool(Watchful());
  const auto idle = IdleChildren(pool);
  Background run(pool, {Spinner("a", 60'000).Set("retry", "never")});
  AwaitIsolates(pool.worker().pid(), idle, 1);
  const auto tree = TreeOf(pool.worker().pid());
  pool.worker().Signal(SIGTERM);
  std::this_thread::sleep_for(milliseconds(200));
  EXPECT_TRUE(pool.worker().IsRunning());
  pool.worker().Signal(SIGTERM);
  for (const pid_t pid : tree) EXPECT_TRUE(IsGoneWithin(pid, seconds(3))) << StatusField(pid, "Name");
  EXPECT_TRUE(IsError(run.Join().At("a"), "LOST"));
}

TEST(BrokerDeath, CostsNoJobItsResultWhenABrokerIsThereAgain) {
  Pool pool(Watchful());
  IdleChildren(pool);
  std::vector<Job> jobs;
  for (int i = 0; i < 12; ++i) jobs.push_back(Spinner("j" + std::to_string(i), 200));
  Background run(pool, jobs);
  std::this_thread::sleep_for(milliseconds(500));  // some have ended, two run, the rest waits
  pool.RestartBroker();
  for (const auto& job : jobs) EXPECT_TRUE(IsOk(run.Join().At(job.id()), "done"));
  EXPECT_TRUE(pool.worker().IsRunning()) << pool.Logs();
}

TEST(CellDeath, TouchesNoRunningJobAndTheNextJobsRun) {
  Pool pool(Watchful());
  const auto idle = IdleChildren(pool);
  Background run(pool, {Waiter("a"), Waiter("b")}, Waiting(1200));
  AwaitIsolates(pool.worker().pid(), idle, 2);
  for (const pid_t pid : idle) {
    // The cell and, where there are namespaces, their init stub; the stub's death ends the whole namespace.
    if (StatusField(pid, "Threads") == "1" && PeakResidentBytes(pid) > (8u << 20)) kill(pid, SIGKILL);
  }
  EXPECT_TRUE(IsOk(run.Join().At("a"), "done"));
  EXPECT_TRUE(IsOk(run.Join().At("b"), "done"));
  EXPECT_EQ(run.Join().At("a").Field("attempt"), 1);
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(IsOk(pool.RunOne(Job("next", "return 2")), 2)) << pool.Logs();
  EXPECT_NE(ChildrenOf(pool.worker().pid()), idle);
}

// The outcome of a job whose isolate gets `signal` from outside.
JobResult AfterSignal(int signal, const std::string& retry) {
  Pool pool(Watchful());
  const auto idle = IdleChildren(pool);
  Background run(pool, {Spinner("a", 700).Set("retry", retry)});
  for (const pid_t pid : AwaitIsolates(pool.worker().pid(), idle, 1)) kill(pid, signal);
  const JobResult result = run.Join().At("a");
  EXPECT_TRUE(IsOk(pool.RunOne(Job("next", "return 2")), 2)) << pool.Logs();
  return result;
}

TEST(IsolateDeath, BySigsegvIsACrashThatNamesItWhenItMayNotRunAgain) {
  const auto result = AfterSignal(SIGSEGV, "never");
  EXPECT_TRUE(IsError(result, "CRASH"));
  EXPECT_EQ(result.Error("fault"), "program");
  EXPECT_NE(result.message().find("SEGV"), std::string::npos) << Shown(result);
}

TEST(IsolateDeath, BySigsegvOnceIsRunAgainWhenThatIsSafe) {
  const auto result = AfterSignal(SIGSEGV, "safe");
  EXPECT_TRUE(IsOk(result, "done"));
  EXPECT_EQ(result.Field("attempt"), 2);
}

TEST(IsolateDeath, ByAStrangersSigkillIsLostAndNeverTheProgramsFault) {
  const auto result = AfterSignal(SIGKILL, "never");
  EXPECT_TRUE(IsError(result, "LOST"));
  EXPECT_EQ(result.Error("fault"), "infrastructure");
}

TEST(IsolateDeath, ByAStrangersSigkillIsRunAgainWhenThatIsSafe) {
  const auto result = AfterSignal(SIGKILL, "safe");
  EXPECT_TRUE(IsOk(result, "done"));
  EXPECT_EQ(result.Field("attempt"), 2);
}

TEST(QueueDeadline, AJobThatDidNotStartInTimeIsExpired) {
  Pool pool({.isolates = 1});
  ASSERT_TRUE(IsOk(pool.RunOne(Job("warm", "return 1")), Json(1))) << pool.Logs();
  const auto report = pool.Run({Waiter("holds"), Job("late", "return 1").Set("deadlineMs", 200),
                                Job("patient", "return 2").Set("deadlineMs", 20'000)},
                               Waiting(900));
  EXPECT_TRUE(IsOk(report.At("holds"), "done"));
  EXPECT_TRUE(IsError(report.At("late"), "EXPIRED"));
  EXPECT_EQ(report.At("late").Error("started"), false);
  EXPECT_TRUE(IsOk(report.At("patient"), 2));
}

}  // namespace
}  // namespace skerry::testing
