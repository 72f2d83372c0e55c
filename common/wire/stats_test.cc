// A worker's figures on the wire, and what is new in them.
#include "common/wire/stats.h"

#include <gtest/gtest.h>

#include "common/wire/codec.h"

namespace skerry::wire {
namespace {

WorkerStats Full() {
  WorkerStats figures;
  for (std::size_t i = 0; i < kIsolateExitCount; ++i) figures.exits[i] = kMaxStat - i;
  for (std::size_t i = 0; i < kCellRestartCount; ++i) figures.cell_restarts[i] = kMaxStat - i;
  for (std::size_t i = 0; i < kDerivedCellEventCount; ++i) figures.derived_cells[i] = kMaxStat - i;
  for (auto& count : figures.fork_times.counts()) count = kMaxStat;
  figures.fork_times.sum_us() = kMaxStat;
  figures.reruns = 3;
  figures.lost_events = 4;
  figures.spares = 5;
  figures.cells = 6;
  return figures;
}

TEST(WireStats, KeepEveryFigureThereAndBack) {
  const auto header = Decode(Encode(ToStats(Full())));
  ASSERT_TRUE(header) << header.error().message;
  EXPECT_EQ(FromStats(std::get<Stats>(*header)), Full());
}

TEST(WireStats, OfAWorkerThatCountedEverythingStaySmall) {
  EXPECT_LT(Encode(ToStats(Full())).size(), 1500u);
  EXPECT_LT(Encode(ToStats(WorkerStats())).size(), 16u);
}

TEST(WireStats, OfThingsThatThisBuildDoesNotKnowAreLeftOut) {
  Stats stats;
  stats.exits.entries = {{"sigsegv", 2}, {"eaten by a grue", 7}};
  stats.fork_us.entries = {{"123", 9}, {"inf", 1}};
  const WorkerStats figures = FromStats(stats);
  EXPECT_EQ(figures.exits[static_cast<std::size_t>(IsolateExit::kSegv)], 2u);
  EXPECT_EQ(figures.fork_times.counts().back(), 1u);
  WorkerStats known;
  known.exits[static_cast<std::size_t>(IsolateExit::kSegv)] = 2;
  known.fork_times.counts().back() = 1;
  EXPECT_EQ(figures, known);
}

TEST(WorkerStatsSince, AreTheDifferenceOfCountsAndTheGaugesOfNow) {
  WorkerStats before;
  before.Count(IsolateExit::kFinished);
  before.fork_times.Observe(Micros(300));
  before.spares = 9;
  WorkerStats now = before;
  now.Count(IsolateExit::kFinished);
  now.Count(CellRestart::kAge);
  now.fork_times.Observe(Micros(700));
  now.spares = 2;
  const auto fresh = NewSince(now, before);
  ASSERT_TRUE(fresh);
  WorkerStats expected;
  expected.Count(IsolateExit::kFinished);
  expected.Count(CellRestart::kAge);
  expected.fork_times.Observe(Micros(700));
  expected.spares = 2;
  EXPECT_EQ(*fresh, expected);
  WorkerStats sum = before;
  sum.AddCounts(*fresh);
  sum.spares = now.spares;
  EXPECT_EQ(sum, now);
}

TEST(WorkerStatsSince, ACountThatGoesDownIsRefusedByName) {
  WorkerStats before;
  before.Count(IsolateExit::kSegv);
  const auto fresh = NewSince(WorkerStats(), before);
  ASSERT_FALSE(fresh);
  EXPECT_EQ(fresh.error().message, "sigsegv went down from 1 to 0");
}

TEST(WorkerStatsSince, FiguresThatNoWorkerCanHaveAreRefused) {
  WorkerStats absurd;
  absurd.reruns = kMaxStat + 1;
  EXPECT_FALSE(NewSince(absurd, {}));
  absurd = {};
  absurd.spares = kMaxStatGauge + 1;
  EXPECT_FALSE(NewSince(absurd, {}));
  EXPECT_TRUE(NewSince(Full(), {}));
}

TEST(TimeHistogram, ABoundBelongsToItsOwnBucket) {
  EXPECT_EQ(TimeHistogram::BucketOf(Micros(0)), 0u);
  EXPECT_EQ(TimeHistogram::BucketOf(Micros(250)), 0u);
  EXPECT_EQ(TimeHistogram::BucketOf(Micros(251)), 1u);
  EXPECT_EQ(TimeHistogram::BucketOf(Micros(600'000'001)), TimeHistogram::kBounds.size());
}

}  // namespace
}  // namespace skerry::wire
