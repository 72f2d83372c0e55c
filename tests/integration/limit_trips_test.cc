// skerry_limit_trips_total: for every row of DESIGN section 4 a job that trips it counts there once, and
// nowhere else, whether the limit ended the job or only curtailed it.
#include "tests/integration/metrics_fixture.h"
#include "tests/support/pool_watch.h"

namespace skerry::testing {
namespace {

constexpr const char* kTrips = "skerry_limit_trips_total";

struct Tripping {
  std::string limit;
  std::string end;  ///< "ok" or the error's code
  Job job;
};

std::vector<Tripping> EveryJobLimit() {
  const auto job = [](const std::string& code) { return Job("job", code); };
  const std::string bomb = "const a=[];for(;;)a.push(new Array(1e4).fill(1))";
  const std::string call = "await dataProxy.request('big')";
  const std::string caught =
      "for(let i=0;i<9;i++)await dataProxy.request('big','x'.repeat(99)).catch(()=>0);";
  return {
      {"memoryMb", "OOM", job(bomb).Limit("memoryMb", 16)},
      {"timeoutMs", "TIMEOUT", job("for(;;);").Limit("timeoutMs", 80)},
      {"timeoutMs", "TIMEOUT", job("await dataProxy.request('never')").Limit("timeoutMs", 80)},
      {"cpuMs", "TIMEOUT", job("for(;;);").Limit("cpuMs", 40)},
      {"maxCodeBytes", "VALIDATION", job("return 1 // long").Limit("maxCodeBytes", 8)},
      {"maxDataRequests", "LIMIT", job("for(;;)" + call).Limit("maxDataRequests", 2)},
      {"maxDataRequests", "ok", job(caught + "return 1").Limit("maxDataRequests", 2)},
      {"maxDataBytes", "LIMIT", job(call).Limit("maxDataBytes", 50)},
      {"maxDataBytes", "ok", job(caught + "return 1").Limit("maxDataBytes", 50)},
      {"maxParamsBytes", "LIMIT",
       job("await dataProxy.request('m','x'.repeat(99))").Limit("maxParamsBytes", 50)},
      {"maxParamsBytes", "ok", job(caught + "return 1").Limit("maxParamsBytes", 50)},
      {"maxResultBytes", "VALIDATION", job("return 'x'.repeat(99)").Limit("maxResultBytes", 50)},
      {"maxStatusEvents", "ok",
       job("for(let i=0;i<50;i++)reportStatus(i);return 1").Limit("maxStatusEvents", 3)},
      {"maxConsoleEvents", "ok",
       job("for(let i=0;i<50;i++)console.log(i);return 1").Limit("maxConsoleEvents", 3)},
      {"maxEventBytes", "ok", job("console.log('x'.repeat(99));return 1").Limit("maxEventBytes", 64)},
      {"maxEventBytes", "ok", job("reportStatus('x'.repeat(99));return 1").Limit("maxEventBytes", 64)},
      {"maxEventsTotalBytes", "ok",
       job("for(let i=0;i<50;i++)console.log('0123456789');return 1").Limit("maxEventsTotalBytes", 100)},
  };
}

std::string EndOf(const JobResult& result) {
  return result.ok() ? "ok" : result.code();
}

RunOptions Answers() {
  return {.fixtures = Json{{"big", std::string(99, 'y')}, {"never", Json{{"$never", true}}}, {"m", 1}}};
}

/// What has tripped since. A final leaves the broker a moment before its page is renewed.
Moved AwaitTrips(const WatchedPool& watched, const MetricsPage& before) {
  return watched.Await([&](const MetricsPage& page) { return !page.Since(before, kTrips).empty(); })
      .Since(before, kTrips);
}

TEST(LimitTrips, AJobThatTripsALimitCountsOnceForItAndForNoOther) {
  const WatchedPool watched;
  for (const Tripping& row : EveryJobLimit()) {
    const MetricsPage before = watched.Page();
    const JobResult result = watched.pool.RunOne(row.job, Answers());
    EXPECT_EQ(EndOf(result), row.end) << row.limit << Shown(result);
    EXPECT_EQ(AwaitTrips(watched, before), (Moved{{Label("limit", row.limit), 1}}))
        << row.job.Line() << watched.pool.Logs();
  }
}

TEST(LimitTrips, AJobThatTripsSeveralCountsOnceForEach) {
  const WatchedPool watched;
  const MetricsPage before = watched.Page();
  const auto result =
      watched.pool.RunOne(Job("both",
                              "for(let i=0;i<50;i++){console.log('x'.repeat(99));reportStatus(i);"
                              "await dataProxy.request('m').catch(()=>0)} for(;;);")
                              .Limit("maxConsoleEvents", 3)
                              .Limit("maxStatusEvents", 2)
                              .Limit("maxEventBytes", 64)
                              .Limit("maxDataRequests", 4)
                              .Limit("timeoutMs", 300),
                          Answers());
  EXPECT_TRUE(IsError(result, "TIMEOUT", "timeoutMs"));
  EXPECT_EQ(AwaitTrips(watched, before), (Moved{{Label("limit", "maxConsoleEvents"), 1},
                                                {Label("limit", "maxStatusEvents"), 1},
                                                {Label("limit", "maxEventBytes"), 1},
                                                {Label("limit", "maxDataRequests"), 1},
                                                {Label("limit", "timeoutMs"), 1}}));
}

TEST(LimitTrips, AJobWithinItsLimitsTripsNone) {
  const WatchedPool watched;
  EXPECT_TRUE(IsOk(watched.pool.RunOne(Job("a", "console.log(1);reportStatus(2);return 3"), Answers()), 3));
  const MetricsPage page = watched.Page();
  EXPECT_EQ(page.Sum("skerry_jobs_finished_total"), 1);
  EXPECT_EQ(page.Sum(kTrips), 0);
}

// Waiting for a slot or for memory is no trip; being turned away is.
TEST(LimitTrips, OfThePoolCountJobsThatAreTurnedAway) {
  WatchedPool watched({.isolates = 1, .memory_mb = 560});
  const auto idle = IdleChildren(watched.pool);
  const MetricsPage before = watched.Page();
  Background run(watched.pool,
                 {Job("holds", "await dataProxy.request('w')").Limit("memoryMb", 64),
                  Job("waits", "return 1").Limit("memoryMb", 64)},
                 {.fixtures = Json{{"w", {{"$value", 1}, {"$delayMs", 1'500}}}}});
  AwaitIsolates(watched.pool.worker().pid(), idle, 1);
  EXPECT_TRUE(
      IsError(watched.pool.RunOne(Job("a", "return 1").Limit("memoryMb", 64).Set("admission", "failFast")),
              "OVERLOADED", "maxConcurrentIsolates"));
  EXPECT_EQ(watched.Page().Since(before, kTrips), (Moved{{Label("limit", "maxConcurrentIsolates"), 1}}));
  EXPECT_TRUE(IsOk(run.Join().At("waits"), 1));
  const MetricsPage between = watched.Page();
  EXPECT_TRUE(IsError(watched.pool.RunOne(Job("b", "return 1").Limit("memoryMb", 900)), "OVERLOADED",
                      "workerMemoryMb"));
  EXPECT_EQ(watched.Page().Since(between, kTrips), (Moved{{Label("limit", "workerMemoryMb"), 1}}));
}

TEST(LimitTrips, OfAWorkersMemoryCountsAFailFastJobThatFindsASlotAndNoMemory) {
  WatchedPool watched({.isolates = 2, .memory_mb = 560});
  IdleChildren(watched.pool);
  Background run(watched.pool, {Job("holds", "await dataProxy.request('w')").Limit("memoryMb", 250)},
                 {.fixtures = Json{{"w", {{"$value", 1}, {"$delayMs", 1'500}}}}});
  watched.Await([](const MetricsPage& page) { return page.Value("skerry_running_jobs") == 1; });
  const MetricsPage before = watched.Page();
  EXPECT_TRUE(
      IsError(watched.pool.RunOne(Job("a", "return 1").Limit("memoryMb", 250).Set("admission", "failFast")),
              "OVERLOADED", "workerMemoryMb"));
  EXPECT_EQ(watched.Page().Since(before, kTrips), (Moved{{Label("limit", "workerMemoryMb"), 1}}));
  EXPECT_TRUE(IsOk(run.Join().At("holds")));
}

}  // namespace
}  // namespace skerry::testing
