#include "broker/metrics/health.h"

#include <gtest/gtest.h>

namespace skerry::broker {
namespace {

using Verdict = Health::Report::Verdict;

constexpr TimePoint kStart = TimePoint() + std::chrono::hours(1);

TEST(Health, ALoopThatTurnsIsAliveAndOneThatDoesNotIsStuck) {
  Health health(kStart);
  health.Beat(kStart, Readiness::kReady);
  EXPECT_EQ(health.Live(kStart + Health::kStuckAfter - Millis(1)).verdict, Verdict::kGood);
  const auto stuck = health.Live(kStart + Health::kStuckAfter);
  EXPECT_EQ(stuck.verdict, Verdict::kBad);
  EXPECT_EQ(stuck.text, "the broker's loop has not turned for 10 s");
  EXPECT_EQ(health.Ready(kStart + Health::kStuckAfter).text, stuck.text);
  health.Beat(kStart + std::chrono::minutes(1), Readiness::kReady);
  EXPECT_EQ(health.Live(kStart + std::chrono::minutes(1)).verdict, Verdict::kGood);
}

TEST(Health, OnlyABrokerThatCanDoWorkIsReady) {
  Health health(kStart);
  EXPECT_EQ(health.Ready(kStart).text, "starting");
  const auto ready = [&](Readiness readiness) {
    health.Beat(kStart, readiness);
    EXPECT_EQ(health.Live(kStart).verdict, Verdict::kGood);
    return health.Ready(kStart);
  };
  EXPECT_EQ(ready(Readiness::kReady).verdict, Verdict::kGood);
  EXPECT_EQ(ready(Readiness::kReady).text, "ok");
  for (const auto why :
       {Readiness::kStarting, Readiness::kNoWorker, Readiness::kNoSlot, Readiness::kStopping})
    EXPECT_EQ(ready(why).verdict, Verdict::kBad) << ready(why).text;
}

TEST(Health, ReadinessAsksForAWorkerThatTakesJobs) {
  EXPECT_EQ(ReadinessOf({}), Readiness::kNoWorker);
  EXPECT_EQ(ReadinessOf({.workers = 2}), Readiness::kNoSlot);
  EXPECT_EQ(ReadinessOf({.workers = 2, .accepting = 1}), Readiness::kReady);
}

}  // namespace
}  // namespace skerry::broker
