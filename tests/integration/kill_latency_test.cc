// How soon a killed job's outcome arrives: within timeoutMs + 50 ms, 95 times of 100, with its events intact.
// Only an idle machine can show it, so this runs alone (label `timing`).
#include <algorithm>
#include <thread>

#include "tests/support/load.h"
#include "tests/support/pool.h"

namespace skerry::testing {
namespace {

constexpr int kRuns = 50;
constexpr double kTimeoutMs = 200;
constexpr double kPromisedDelayMs = 50;

double P95(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.at(values.size() * 95 / 100);
}

TEST(KillLatency, TheOutcomeOfAKilledJobArrivesWithinFiftyMilliseconds) {
  Pool pool({.isolates = 1});
  ASSERT_TRUE(IsOk(pool.RunOne(Job("warm", "return 1")), Json(1))) << pool.Logs();
  // Each kind of program that interrupts cannot stop, or that waits; one at a time.
  const std::vector<std::string> programs = {"for(;;);", "while(true){new Array(1000).fill(1.5)}",
                                             "for(;;)await null", "return {get x(){for(;;);}}",
                                             "await dataProxy.request('never')"};
  std::vector<double> delays;
  for (int i = 0; i < kRuns; ++i) {
    const std::string code =
        "for(let i=0;i<20;i++)console.log(i);reportStatus('ready');" + programs[i % programs.size()];
    const auto result = pool.RunOne(Job("k", code).Limit("timeoutMs", static_cast<std::uint64_t>(kTimeoutMs)),
                                    {.fixtures = Json{{"never", {{"$never", true}}}}});
    ASSERT_TRUE(IsError(result, "TIMEOUT", "timeoutMs"));
    ASSERT_EQ(result.Events().size(), 21u) << Shown(result);
    ASSERT_EQ(result.Events("status").at(0).at("value"), "ready");
    EXPECT_GE(result.Usage("wallMs"), kTimeoutMs - 1);
    delays.push_back(result.Usage("wallMs") - kTimeoutMs);
  }
  RecordProperty("p95_ms", std::to_string(P95(delays)));
  EXPECT_LE(P95(delays), kPromisedDelayMs);
}

// The figure above is the worker's own; this one is the client's, with the start of `skerry run` measured
// beside it.
TEST(KillLatency, TheClientSeesTheOutcomeAsSoon) {
  Pool pool({.isolates = 1});
  ASSERT_TRUE(IsOk(pool.RunOne(Job("warm", "return 1")), Json(1))) << pool.Logs();
  std::vector<double> trivial;
  std::vector<double> killed;
  for (int i = 0; i < kRuns; ++i) {
    trivial.push_back(pool.Run({Job("t", "return 1")}).wall.count());
    killed.push_back(
        pool.Run({Job("k", "for(;;);").Limit("timeoutMs", static_cast<std::uint64_t>(kTimeoutMs))})
            .wall.count());
  }
  std::sort(trivial.begin(), trivial.end());
  RecordProperty("median_trivial_ms", std::to_string(trivial[kRuns / 2]));
  RecordProperty("p95_killed_ms", std::to_string(P95(killed)));
  EXPECT_LE(P95(killed), trivial[kRuns / 2] + kTimeoutMs + kPromisedDelayMs);
}

// From the cancel to its final, which says that the isolate is reaped: as the client sees it.
std::vector<double> CancelLatencies(Load& load, bool started) {
  std::vector<double> latencies;
  for (const auto& [id, finished] : load.Join()) {
    EXPECT_TRUE(IsError(finished.result, "CANCELLED"));
    EXPECT_EQ(finished.result.Error("started"), started) << Shown(finished.result);
    latencies.push_back(finished.cancel_ms);
  }
  EXPECT_EQ(latencies.size(), static_cast<std::size_t>(kRuns));
  return latencies;
}

TEST(KillLatency, ACancelEndsARunningOrAQueuedJobWithinFiftyMilliseconds) {
  Pool pool({.isolates = 1});
  ASSERT_TRUE(IsOk(pool.RunOne(Job("warm", "return 1")), Json(1))) << pool.Logs();
  std::vector<Job> spinning;
  std::vector<Job> queued;
  for (int i = 0; i < kRuns; ++i) {
    spinning.push_back(
        Job("s" + std::to_string(i), i % 2 == 0 ? "for(;;);" : "await dataProxy.request('never')"));
    queued.push_back(Job("q" + std::to_string(i), "return 1"));
  }
  const auto after = [](Micros time) { return [time] { return time; }; };
  const auto never = [](const JobId&, std::string_view, std::string_view) {
    return HostReply{HostReply::Kind::kNever, "", Millis(0)};
  };
  Load running(pool.client_url(), {.window = 1, .cancel_after = after(Micros(100'000))}, Each(spinning),
               never);
  const auto of_running = CancelLatencies(running, true);
  // One keeps the only slot while others are cancelled in the queue.
  Load keeper(pool.client_url(), {.window = 1, .cancel_after = after(Micros(30'000'000))},
              Each({Job("keeper", "for(;;);").Limit("timeoutMs", 60'000)}));
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  Load waiting(pool.client_url(), {.window = 1, .cancel_after = after(Micros(20'000))}, Each(queued));
  const auto of_queued = CancelLatencies(waiting, false);
  keeper.Abandon();
  std::printf("from a cancel to its final: running p50 %.1f, p95 %.1f ms; queued p50 %.1f, p95 %.1f ms\n",
              Quantile(of_running, 0.5), P95(of_running), Quantile(of_queued, 0.5), P95(of_queued));
  EXPECT_LE(P95(of_running), kPromisedDelayMs);
  EXPECT_LE(P95(of_queued), kPromisedDelayMs);
}

}  // namespace
}  // namespace skerry::testing
