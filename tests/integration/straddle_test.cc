// Jobs that end just about when their time does: each is ok or TIMEOUT, never both and never neither, and all
// who count agree on which.
//
// Most spin on the clock for timeoutMs less or more some milliseconds; the others wait for a host call that
// is answered about then, or spin and then wait. Each logs when it begins and reports before it returns.
#include <algorithm>
#include <cstdio>

#include "common/testing/free_port.h"
#include "tests/support/load.h"
#include "tests/support/metrics_page.h"
#include "tests/support/pool.h"

namespace skerry::testing {
namespace {

constexpr int kTimeoutMs = 40;
// Spun or waited for, off the aim.
constexpr int kEarliest = -6;
constexpr int kLatest = 6;
// A final that was written in time is taken however late the worker's loop comes to read it: on a machine
// that compiles beside it, this late.
constexpr double kMostLateMs = 200;

enum class Waits : std::uint8_t { kSpins, kCalls, kSpinsAndCalls };
Waits WaitsOf(int job) {
  return job % 5 == 3 ? Waits::kCalls : job % 5 == 4 ? Waits::kSpinsAndCalls : Waits::kSpins;
}

// `aim`: how long it should take, in ms.
Job JobNumber(int job, int aim) {
  const int time = std::max(1, aim + kEarliest + job * 7 % (kLatest - kEarliest + 1));
  const Waits waits = WaitsOf(job);
  const int spin = waits == Waits::kSpins ? time : waits == Waits::kCalls ? 0 : time / 2;
  std::string code = "console.log('begun');const t=Date.now();while(Date.now()-t<input.spin);";
  if (waits != Waits::kSpins) code += "await dataProxy.request('wait',input.wait);";
  return Job("j" + std::to_string(job), code + "reportStatus('done');return input.job")
      .Set("input", {{"job", job}, {"spin", spin}, {"wait", time - spin}})
      .Limit("timeoutMs", kTimeoutMs);
}

// Where to aim so that about half are late: starting, compiling and answering take a moment of their own,
// more of it on a busy machine.
class Aim {
 public:
  int ms() const { return ms_; }
  void Note(int jobs, int ok) {
    if (ok * 10 < jobs * 4) ms_ = std::max(1, ms_ - 3);
    if (ok * 10 > jobs * 6) ms_ += 2;
  }

 private:
  int ms_ = kTimeoutMs - 2;
};

HostReply AnswerLater(const JobId&, std::string_view, std::string_view params) {
  return {HostReply::Kind::kValue, "1", Millis(std::atoi(std::string(params).c_str()))};
}

struct Tally {
  int ok = 0;
  int timeouts = 0;
  double latest_ok_ms = 0;
  double latest_timeout_ms = 0;
};

// Everything that a result says of itself; adds it to the tally.
void CheckResult(int job, const JobResult& result, Tally& tally) {
  const double late = result.Usage("wallMs") - kTimeoutMs;
  const auto console = result.Events("console").size();
  const auto status = result.Events("status").size();
  EXPECT_EQ(result.Usage("consoleEvents"), static_cast<double>(console)) << Shown(result);
  EXPECT_EQ(result.Usage("statusEvents"), static_cast<double>(status)) << Shown(result);
  EXPECT_EQ(result.Usage("droppedEvents"), 0) << Shown(result);
  EXPECT_LE(console, 1u) << Shown(result);
  EXPECT_LE(status, 1u) << Shown(result);
  EXPECT_LE(result.Usage("dataRequests"), WaitsOf(job) == Waits::kSpins ? 0 : 1) << Shown(result);
  EXPECT_EQ(result.Field("attempt"), 1) << Shown(result);
  if (result.ok()) {
    ++tally.ok;
    tally.latest_ok_ms = std::max(tally.latest_ok_ms, late);
    EXPECT_TRUE(IsOk(result, job));
    EXPECT_EQ(console + status, 2u) << Shown(result);
    EXPECT_LE(late, kMostLateMs) << Shown(result);
    return;
  }
  ++tally.timeouts;
  tally.latest_timeout_ms = std::max(tally.latest_timeout_ms, late);
  EXPECT_TRUE(IsError(result, "TIMEOUT", "timeoutMs"));
  EXPECT_EQ(result.Error("started"), true) << Shown(result);
  EXPECT_EQ(result.Error("fault"), "limit") << Shown(result);
  EXPECT_EQ(result.value(), Json()) << Shown(result);
  EXPECT_GE(late, 0) << Shown(result);
}

void Straddle(int jobs) {
  const std::uint16_t port = FreePort();
  // As many spin at once as there are cores: who waits for a core only times out.
  Pool pool({.isolates = 2, .broker_args = {"--metrics", "127.0.0.1:" + std::to_string(port)}});
  ASSERT_TRUE(IsOk(pool.RunOne(Job("warm", "return 1")), Json(1))) << pool.Logs();
  const MetricsPage before = MetricsPage::Of(port);
  Tally tally;
  Aim aim;
  constexpr int kAtATime = 40;
  for (int first = 0; first < jobs; first += kAtATime) {
    std::vector<Job> some;
    for (int i = first; i < first + kAtATime; ++i) some.push_back(JobNumber(i, aim.ms()));
    Load load(pool.client_url(), {.window = 8}, Each(some), AnswerLater);
    const auto& finished = load.Join();
    ASSERT_EQ(finished.size(), some.size());
    const int ok_before = tally.ok;
    for (int i = first; i < first + kAtATime; ++i)
      CheckResult(i, finished.at("j" + std::to_string(i)).result, tally);
    aim.Note(kAtATime, tally.ok - ok_before);
  }
  std::printf("ok %d, at most %.1f ms past timeoutMs; TIMEOUT %d, at most %.1f ms\n", tally.ok,
              tally.latest_ok_ms, tally.timeouts, tally.latest_timeout_ms);
  ::testing::Test::RecordProperty("ok", tally.ok);
  ::testing::Test::RecordProperty("timeouts", tally.timeouts);
  EXPECT_GT(tally.ok, jobs / 10) << "they did not straddle";
  EXPECT_GT(tally.timeouts, jobs / 10) << "they did not straddle";
  EXPECT_EQ(tally.ok + tally.timeouts, jobs);

  const MetricsPage after =
      AwaitMetrics(port, [](const MetricsPage& page) { return page.Sum("skerry_running_jobs") == 0; });
  EXPECT_EQ(after.Since(before, "skerry_jobs_finished_total"),
            Moved({{R"({code="ok"})", tally.ok}, {R"({code="TIMEOUT"})", tally.timeouts}}));
  EXPECT_EQ(after.Since(before, "skerry_limit_trips_total"),
            Moved({{R"({limit="timeoutMs"})", tally.timeouts}}));
  EXPECT_EQ(after.Since(before, "skerry_job_run_seconds_count"), Moved({{"", jobs}}));
  EXPECT_EQ(after.Sum("skerry_stray_finals_total"), 0);
}

TEST(Straddle, TwoHundredJobsAtTheirTimeoutHaveOneEndEach) {
  Straddle(200);
}

TEST(StraddleFull, TwoThousandJobsAtTheirTimeoutHaveOneEndEach) {
  Straddle(2'000);
}

}  // namespace
}  // namespace skerry::testing
