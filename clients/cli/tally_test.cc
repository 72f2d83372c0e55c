#include "clients/cli/tally.h"

#include <gtest/gtest.h>

#include "clients/cli/progress.h"

namespace skerry::cli {
namespace {

Outcome Ok(double wall_ms) {
  Outcome outcome;
  outcome.usage.wall_ms = wall_ms;
  return outcome;
}

Outcome Failed(Code code, bool started) {
  Outcome outcome;
  outcome.error = MakeError(code, "m");
  outcome.error->started = started;
  return outcome;
}

TEST(Tally, QuantilesAreWithinTwoPercent) {
  Tally tally;
  for (int i = 1; i <= 1000; ++i) tally.Count(Ok(i));
  EXPECT_NEAR(tally.WallQuantile(0.5), 500, 10);
  EXPECT_NEAR(tally.WallQuantile(0.99), 990, 20);
  EXPECT_NEAR(tally.WallQuantile(1), 1000, 20);
}

TEST(Tally, QuantilesAreNeverOutsideOfWhatWasMeasured) {
  Tally tally;
  for (const double ms : {1000.07, 1000.3, 1000.5, 1000.9, 1001.2, 1001.63}) tally.Count(Ok(ms));
  for (const double fraction : {0.0, 0.5, 0.99, 1.0}) {
    EXPECT_GE(tally.WallQuantile(fraction), 1000.07) << fraction;
    EXPECT_LE(tally.WallQuantile(fraction), 1001.63) << fraction;
  }
  EXPECT_NE(tally.Summary(6).find("p50 1000 ms, p99 1000 ms"), std::string::npos) << tally.Summary(6);
}

TEST(Tally, TimesOutsideTheHistogramStayAtItsEnds) {
  Tally tally;
  tally.Count(Ok(0));
  EXPECT_LT(tally.WallQuantile(1), 0.0011);
  tally.Count(Ok(1e12));
  EXPECT_GT(tally.WallQuantile(1), 86'400'000.0);
}

TEST(Tally, JobsThatNeverStartedHaveNoRunTime) {
  Tally tally;
  tally.Count(Failed(Code::kValidation, false));
  EXPECT_EQ(tally.WallQuantile(0.5), 0);
  EXPECT_EQ(tally.total(), 1u);
}

TEST(Tally, TheSummaryCountsByCode) {
  Tally tally;
  for (int i = 0; i < 1234; ++i) tally.Count(Ok(5));
  tally.Count(Failed(Code::kOom, true));
  tally.Count(Failed(Code::kTimeout, true));
  tally.Count(Failed(Code::kTimeout, true));
  const std::string summary = tally.Summary(2);
  EXPECT_EQ(
      summary.rfind("1,237 jobs in 2.0 s (618/s): 1,234 ok, 3 failed (TIMEOUT 2, OOM 1); run time p50 ", 0),
      0u)
      << summary;
}

TEST(Tally, CancelledJobsAreApartFromFailuresAndThoseThatNeverRanMakeNoRate) {
  Tally tally;
  for (int i = 0; i < 5; ++i) tally.Count(Ok(5));
  tally.Count(Failed(Code::kRuntime, true));
  tally.Count(Failed(Code::kCancelled, true));
  for (int i = 0; i < 13; ++i) tally.Count(Failed(Code::kCancelled, false));
  const std::string summary = tally.Summary(1);
  EXPECT_EQ(summary.rfind("20 jobs in 1.0 s (7/s): 5 ok, 1 failed (RUNTIME 1), 14 cancelled; run time", 0),
            0u)
      << summary;
  EXPECT_EQ(BarText(tally, -1, 1, 80), "20 jobs  7/s  5 ok  1 failed  14 cancelled");
  EXPECT_EQ(tally.errors(), 15u) << "not all were ok";
}

TEST(Progress, TheBarFillsWithTheInputAndFitsTheTerminal) {
  Tally tally;
  for (int i = 0; i < 10; ++i) tally.Count(Ok(1));
  const std::string half = BarText(tally, 0.5, 2, 80);
  EXPECT_EQ(half, "[############............]  50%  10 jobs  5/s  10 ok");
  EXPECT_EQ(BarText(tally, -1, 2, 80), "10 jobs  5/s  10 ok");
  EXPECT_EQ(BarText(tally, 0.5, 2, 20).size(), 19u);
  EXPECT_NE(BarText(tally, 7.0, 2, 80).find("100%"), std::string::npos);
}

}  // namespace
}  // namespace skerry::cli
