// What the metrics page counts over the whole stack: jobs by how they ended, events, host calls, and how
// isolates and cells die.
#include <signal.h>

#include "common/testing/proc_fs.h"
#include "tests/integration/metrics_fixture.h"
#include "tests/support/pool_watch.h"

namespace skerry::testing {
namespace {

constexpr const char* kExits = "skerry_isolate_exits_total";
constexpr const char* kRestarts = "skerry_cell_restarts_total";

RunOptions Answers() {
  return {.fixtures = Json{{"m", 12345}, {"w", {{"$value", 1}, {"$delayMs", 1'000}}}}};
}

TEST(MetricsOfJobs, CountThemByHowTheyEnded) {
  const WatchedPool watched;
  watched.pool.Run({Job("a", "return 1"), Job("b", "return 2"), Job("c", "throw 1"), Job("d", "let ="),
                    Job("e", "for(;;);").Limit("timeoutMs", 50),
                    Job("f", "return 1").Limit("timeoutMs", 86'400'000),
                    Job("g", "return 1").Limit("cpuMs", 86'400'000)});
  const MetricsPage page = watched.Page();
  const MetricsPage none;
  EXPECT_EQ(page.Value("skerry_jobs_submitted_total"), 7);
  EXPECT_EQ(page.Value("skerry_jobs_accepted_total"), 5);
  EXPECT_EQ(page.Value("skerry_jobs_dispatched_total"), 5);
  EXPECT_EQ(page.Since(none, "skerry_jobs_rejected_total"), (Moved{{Label("reason", "validation"), 2}}));
  EXPECT_EQ(page.Since(none, "skerry_jobs_finished_total"), (Moved{{Label("code", "ok"), 2},
                                                                   {Label("code", "RUNTIME"), 1},
                                                                   {Label("code", "COMPILE"), 1},
                                                                   {Label("code", "TIMEOUT"), 1},
                                                                   {Label("code", "VALIDATION"), 2}}));
  EXPECT_EQ(
      page.Since(none, "skerry_jobs_failed_total"),
      (Moved{{Label("fault", "program"), 2}, {Label("fault", "limit"), 1}, {Label("fault", "client"), 2}}));
  for (const char* histogram :
       {"skerry_job_queue_seconds", "skerry_job_run_seconds", "skerry_job_cpu_seconds"})
    EXPECT_EQ(page.Value(std::string(histogram) + "_count"), 5) << histogram;
  EXPECT_GE(page.Value("skerry_job_run_seconds_sum"), 0.05);
  EXPECT_EQ(page.Value("skerry_result_bytes_total"), 2);
  EXPECT_EQ(page.Value("skerry_running_jobs"), 0);
  EXPECT_EQ(page.Value("skerry_stray_finals_total"), 0);
}

TEST(MetricsOfJobs, CountEventsAndHostCalls) {
  const WatchedPool watched;
  EXPECT_TRUE(IsOk(watched.pool.RunOne(
      Job("a",
          "for(let i=0;i<5;i++){console.log(i);reportStatus(i)} await dataProxy.request('m',{a:1});return 0")
          .Limit("maxConsoleEvents", 3),
      Answers())));
  const MetricsPage page = watched.Page();
  const MetricsPage none;
  EXPECT_EQ(page.Since(none, "skerry_events_relayed_total"),
            (Moved{{Label("type", "console"), 3}, {Label("type", "status"), 5}}));
  EXPECT_EQ(page.Since(none, "skerry_events_dropped_total"), (Moved{{Label("cause", "limit"), 2}}));
  EXPECT_EQ(page.Value("skerry_host_calls_total"), 1);
  EXPECT_EQ(page.Value("skerry_host_answers_total"), 1);
  EXPECT_EQ(page.Since(none, "skerry_host_call_bytes_total"),
            (Moved{{Label("direction", "request"), 1 + 7}, {Label("direction", "answer"), 5}}));
}

TEST(MetricsOfWorkers, ShowWhatTheyHaveAndWhatIsInUse) {
  const WatchedPool watched({.isolates = 3, .spares = 2, .memory_mb = 1024});
  const MetricsPage idle = watched.Await([](const MetricsPage& page) {
    return page.Value("skerry_worker_spares") == 2 && page.Value("skerry_worker_slots{state=\"free\"}") == 3;
  });
  EXPECT_EQ(idle.Value("skerry_workers"), 1);
  EXPECT_EQ(idle.Value("skerry_workers_accepting"), 1);
  EXPECT_EQ(idle.Value("skerry_worker_cells"), 1);
  EXPECT_EQ(idle.Value("skerry_worker_spares"), 2);
  EXPECT_EQ(idle.Value("skerry_worker_slots{state=\"free\"}"), 3);
  EXPECT_GE(idle.Value("skerry_fork_seconds_count"), 2);
  EXPECT_GT(idle.Value("skerry_fork_seconds_sum"), 0);
  const double memory = idle.Value("skerry_worker_memory_bytes{state=\"free\"}");
  const Moved info = idle.Since({}, "skerry_worker_info");
  ASSERT_EQ(info.size(), 1u);
  EXPECT_NE(info.begin()->first.find("v8=\"14."), std::string::npos) << info.begin()->first;
  EXPECT_NE(info.begin()->first.find("seccomp\""), std::string::npos) << info.begin()->first;
  EXPECT_NE(info.begin()->first.find("version=\"skerry/0.1.0\""), std::string::npos) << info.begin()->first;

  Background run(watched.pool, {Job("a", "await dataProxy.request('w')").Limit("memoryMb", 100)}, Answers());
  const MetricsPage busy =
      watched.Await([](const MetricsPage& page) { return page.Value("skerry_running_jobs") == 1; });
  EXPECT_EQ(busy.Value("skerry_worker_slots{state=\"used\"}"), 1);
  EXPECT_EQ(busy.Value("skerry_worker_slots{state=\"free\"}"), 2);
  EXPECT_EQ(busy.Value("skerry_worker_memory_bytes{state=\"promised\"}"), 100.0 * 1024 * 1024);
  EXPECT_EQ(busy.Value("skerry_worker_memory_bytes{state=\"free\"}"), memory - 100.0 * 1024 * 1024);
  EXPECT_EQ(busy.Value("skerry_sessions"), 1);
}

TEST(MetricsOfWorkers, CountHowIsolatesEnd) {
  WatchedPool watched({.isolates = 1, .spares = 0});
  const auto idle = IdleChildren(watched.pool);
  watched.pool.Run({Job("ok", "return 1"), Job("throws", "throw 1"),
                    Job("time", "for(;;);").Limit("timeoutMs", 50),
                    Job("cpu", "for(;;);").Limit("cpuMs", 20)});
  Background run(watched.pool, {Job("dies", "for(;;);").Set("retry", "never")});
  for (const pid_t pid : AwaitIsolates(watched.pool.worker().pid(), idle, 1)) kill(pid, SIGSEGV);
  EXPECT_TRUE(IsError(run.Join().At("dies"), "CRASH"));
  const Moved expected = {{Label("cause", "finished"), 3},
                          {Label("cause", "killed_timeout"), 1},
                          {Label("cause", "killed_cpu"), 1},
                          {Label("cause", "sigsegv"), 1}};
  const MetricsPage page =
      watched.Await([&](const MetricsPage& now) { return now.Since({}, kExits) == expected; });
  EXPECT_EQ(page.Since({}, kExits), expected) << watched.pool.Logs();
  EXPECT_EQ(page.Since({}, kRestarts), (Moved{{Label("reason", "crash"), 1}}));
}

TEST(MetricsOfWorkers, CountAKillFromOutsideAndTheRerunAfterIt) {
  WatchedPool watched({.isolates = 1, .spares = 0});
  const auto idle = IdleChildren(watched.pool);
  const MetricsPage before = watched.Await([](const MetricsPage& page) { return page.Sum(kExits) == 1; });
  Background run(watched.pool, {Job("a", "const t=Date.now();while(Date.now()-t<700);return 1")});
  for (const pid_t pid : AwaitIsolates(watched.pool.worker().pid(), idle, 1)) kill(pid, SIGKILL);
  EXPECT_TRUE(IsOk(run.Join().At("a"), 1));
  const Moved expected = {{Label("cause", "foreign_kill"), 1}, {Label("cause", "finished"), 1}};
  const MetricsPage page =
      watched.Await([&](const MetricsPage& now) { return now.Since(before, kExits) == expected; });
  EXPECT_EQ(page.Since(before, kExits), expected) << watched.pool.Logs();
  EXPECT_EQ(page.Value("skerry_worker_reruns_total"), 1);
}

TEST(MetricsOfWorkers, CountACellThatDiesAndTheSparesThatGoWithNone) {
  WatchedPool watched({.isolates = 1, .spares = 0});
  IdleChildren(watched.pool);
  for (const pid_t pid : CellsOf(watched.pool.worker().pid())) kill(pid, SIGKILL);
  const Moved expected = {{Label("reason", "died"), 1}};
  const MetricsPage page =
      watched.Await([&](const MetricsPage& now) { return now.Since({}, kRestarts) == expected; });
  EXPECT_EQ(page.Since({}, kRestarts), expected) << watched.pool.Logs();
  EXPECT_TRUE(IsOk(watched.pool.RunOne(Job("after", "return 1")), 1));
}

// A worker reports from where a new broker met it: the past is not counted as a burst.
TEST(MetricsOfWorkers, OfARestartedBrokerBeginAnew) {
  WatchedPool watched;
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(IsOk(watched.pool.RunOne(Job("a", "return 1")), 1));
  watched.Await([](const MetricsPage& page) {
    return page.Value("skerry_isolate_exits_total{cause=\"finished\"}") == 5;
  });
  watched.pool.RestartBroker();
  watched.AwaitWorker();
  ASSERT_TRUE(IsOk(watched.pool.RunOne(Job("a", "return 1")), 1));
  const MetricsPage page =
      watched.Await([](const MetricsPage& now) { return now.Sum("skerry_isolate_exits_total") >= 1; });
  EXPECT_EQ(page.Value("skerry_isolate_exits_total{cause=\"finished\"}"), 1);
}

TEST(MetricsOfWorkers, OfALostWorkerCountTheJobThatIsSentAgain) {
  WatchedPool watched(
      {.isolates = 1, .spares = 0, .broker_args = {"--heartbeat-ms", "100", "--peer-timeout-ms", "500"}});
  const auto idle = IdleChildren(watched.pool);
  Background run(watched.pool, {Job("a", "const t=Date.now();while(Date.now()-t<800);return 1")});
  AwaitIsolates(watched.pool.worker().pid(), idle, 1);
  watched.pool.worker().Signal(SIGKILL);
  watched.pool.AddWorker();
  EXPECT_TRUE(IsOk(run.Join().At("a"), 1));
  EXPECT_EQ(watched.Page().Value("skerry_jobs_redispatched_total"), 1);
}

}  // namespace
}  // namespace skerry::testing
