#include "worker/agent/jobs/limit_watch.h"

#include <gtest/gtest.h>

namespace skerry::agent {
namespace {

const TimePoint kBegin{Millis(1000)};

Limits With(std::uint64_t timeout_ms, std::uint64_t cpu_ms = kUnlimited) {
  Limits limits;
  limits.Set(LimitId::kTimeoutMs, timeout_ms);
  limits.Set(LimitId::kCpuMs, cpu_ms);
  limits.Set(LimitId::kMemoryMb, 64);
  return limits;
}

LimitWatch StartedWith(const Limits& limits) {
  LimitWatch watch(limits);
  watch.Start(kBegin);
  return watch;
}

TEST(LimitWatch, HitsTheWallClockAtTimeoutMsAndNotBefore) {
  LimitWatch watch = StartedWith(With(10));
  EXPECT_EQ(watch.NextCheck(), kBegin + Millis(10));
  EXPECT_EQ(watch.Check(kBegin + Millis(10) - Micros(1), {}), std::nullopt);
  EXPECT_EQ(watch.NextCheck(), kBegin + Millis(10));
  EXPECT_EQ(watch.Check(kBegin + Millis(10), {}), Cause::kWallClock);
}

TEST(LimitWatch, LooksAtMemoryEveryTwentyMillisecondsOfALongRun) {
  LimitWatch watch = StartedWith(With(30'000));
  EXPECT_EQ(watch.NextCheck(), kBegin + Millis(20));
  EXPECT_EQ(watch.Check(kBegin + Millis(20), {Micros(0), Bytes::MiB(64 + 32)}), std::nullopt);
  EXPECT_EQ(watch.NextCheck(), kBegin + Millis(40));
  EXPECT_EQ(watch.Check(kBegin + Millis(40), {Micros(0), Bytes::MiB(64 + 32) + Bytes(1)}), Cause::kMemory);
}

TEST(LimitWatch, RearmsTheCpuCheckAtWhatRemains) {
  LimitWatch watch = StartedWith(With(30'000, 5));
  EXPECT_EQ(watch.NextCheck(), kBegin + Millis(5));
  // It slept for most of the time: 2 of 5 ms used.
  EXPECT_EQ(watch.Check(kBegin + Millis(5), {Micros(2000), {}}), std::nullopt);
  EXPECT_EQ(watch.NextCheck(), kBegin + Millis(8));
  EXPECT_EQ(watch.Check(kBegin + Millis(8), {Micros(4999), {}}), std::nullopt);
  EXPECT_EQ(watch.NextCheck(), kBegin + Millis(8) + Micros(500)) << "no nearer than the finest check";
  EXPECT_EQ(watch.Check(kBegin + Millis(9), {Micros(5000), {}}), Cause::kCpuClock);
}

// Looks are 20 ms apart: one that comes later than it should by more than a busy machine explains tells that
// the worker did not run.
TEST(LimitWatch, GivesBackWhatTheWorkerSleptPastAHundredMilliseconds) {
  LimitWatch watch = StartedWith(With(1'000));
  EXPECT_EQ(watch.Check(kBegin + Millis(120), {}), std::nullopt);
  EXPECT_EQ(watch.deadline(), kBegin + Millis(1'000)) << "late by 100";
  EXPECT_EQ(watch.NextCheck(), kBegin + Millis(140));
  EXPECT_EQ(watch.Check(kBegin + Millis(241), {}), std::nullopt);
  EXPECT_EQ(watch.deadline(), kBegin + Millis(1'121)) << "late by 101, asleep since 120 at the earliest";
}

TEST(LimitWatch, GivesBackASleepThatOutlastsTheDeadline) {
  LimitWatch watch = StartedWith(With(30));
  EXPECT_EQ(watch.Check(kBegin + Millis(20), {}), std::nullopt);
  EXPECT_EQ(watch.Check(kBegin + Millis(1'030), {}), std::nullopt);
  EXPECT_EQ(watch.deadline(), kBegin + Millis(1'040)) << "it had 10 ms left";
  EXPECT_EQ(watch.NextCheck(), kBegin + Millis(1'040));
  EXPECT_EQ(watch.Check(kBegin + Millis(1'040), {}), Cause::kWallClock);
}

TEST(LimitWatch, GivesBackNoMoreThanFiveSecondsInAll) {
  LimitWatch watch = StartedWith(With(10'000));
  EXPECT_EQ(watch.Check(kBegin + Millis(3'020), {}), std::nullopt);
  EXPECT_EQ(watch.deadline(), kBegin + Millis(13'020));
  EXPECT_EQ(watch.Check(kBegin + Millis(6'040), {}), std::nullopt);
  EXPECT_EQ(watch.deadline(), kBegin + Millis(15'000));
  EXPECT_EQ(watch.Check(kBegin + Millis(20'000), {}), Cause::kWallClock);
}

TEST(LimitWatch, AsksTheWallClockFirst) {
  LimitWatch watch = StartedWith(With(10, 5));
  EXPECT_EQ(watch.Check(kBegin + Millis(10), {Micros(9000), Bytes::MiB(900)}), Cause::kWallClock);
}

TEST(LimitWatch, LowersThePriorityOnceAfterFiftyMillisecondsOfCpu) {
  LimitWatch watch = StartedWith(With(30'000));
  (void)watch.Check(kBegin + Millis(60), {Micros(49'999), {}});
  EXPECT_FALSE(watch.ShouldLowerPriority());
  (void)watch.Check(kBegin + Millis(80), {Micros(50'000), {}});
  EXPECT_TRUE(watch.ShouldLowerPriority());
  EXPECT_FALSE(watch.ShouldLowerPriority());
}

TEST(LimitWatch, JudgesByTheLastReadingsWhenTheProcessCannotBeRead) {
  LimitWatch watch = StartedWith(With(30'000, 5));
  EXPECT_EQ(watch.Check(kBegin + Millis(5), {}), std::nullopt);
  EXPECT_EQ(watch.NextCheck(), kBegin + Millis(10));
}

}  // namespace
}  // namespace skerry::agent
