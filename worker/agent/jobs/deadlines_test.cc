#include "worker/agent/jobs/deadlines.h"

#include <gtest/gtest.h>

#include <string>

namespace skerry::agent {
namespace {

const TimePoint kStart{Millis(1000)};

TEST(Deadlines, RunsWhatIsDueInOrderOfTimeThenOfArming) {
  Deadlines deadlines;
  std::string ran;
  const auto c = deadlines.At(kStart + Millis(2), [&] { ran += 'c'; });
  const auto a = deadlines.At(kStart, [&] { ran += 'a'; });
  const auto b = deadlines.At(kStart, [&] { ran += 'b'; });
  const auto later = deadlines.At(kStart + Millis(3), [&] { ran += 'd'; });
  deadlines.RunDue(kStart + Millis(2));
  EXPECT_EQ(ran, "abc");
  EXPECT_EQ(deadlines.Next(), kStart + Millis(3));
}

TEST(Deadlines, RunsAnEntryOnceAndNotBeforeItsTime) {
  Deadlines deadlines;
  int runs = 0;
  const auto handle = deadlines.At(kStart, [&] { ++runs; });
  deadlines.RunDue(kStart - std::chrono::nanoseconds(1));
  EXPECT_EQ(runs, 0);
  deadlines.RunDue(kStart);
  deadlines.RunDue(kStart + Millis(1));
  EXPECT_EQ(runs, 1);
  EXPECT_FALSE(deadlines.Next());
}

TEST(Deadlines, ForgetsAnEntryWhoseHandleIsDestroyedOrReassigned) {
  Deadlines deadlines;
  std::string ran;
  {
    const auto dropped = deadlines.At(kStart, [&] { ran += 'x'; });
  }
  Deadlines::Handle handle = deadlines.At(kStart, [&] { ran += 'y'; });
  handle = deadlines.At(kStart, [&] { ran += 'z'; });
  EXPECT_EQ(deadlines.size(), 1u);
  deadlines.RunDue(kStart);
  EXPECT_EQ(ran, "z");
}

TEST(Deadlines, LetsAnActionDestroyItsOwnHandleAndCancelAnotherThatIsDue) {
  Deadlines deadlines;
  std::optional<Deadlines::Handle> own;
  std::optional<Deadlines::Handle> other;
  int runs = 0;
  own = deadlines.At(kStart, [&] {
    ++runs;
    own.reset();
    other.reset();
  });
  other = deadlines.At(kStart, [&] { runs += 100; });
  deadlines.RunDue(kStart);
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(deadlines.size(), 0u);
}

TEST(Deadlines, RunsWhatAnActionArmsForNowInTheSameCall) {
  Deadlines deadlines;
  int runs = 0;
  Deadlines::Handle second;
  const auto first = deadlines.At(kStart, [&] { second = deadlines.At(kStart, [&] { ++runs; }); });
  deadlines.RunDue(kStart);
  EXPECT_EQ(runs, 1);
}

TEST(Deadlines, TellsTheSleeperOnlyOfEntriesThatAreTheEarliest) {
  Deadlines deadlines;
  std::vector<TimePoint> told;
  deadlines.set_on_earlier([&](TimePoint when) { told.push_back(when); });
  const auto a = deadlines.At(kStart + Millis(5), [] {});
  const auto b = deadlines.At(kStart + Millis(9), [] {});
  const auto c = deadlines.At(kStart + Millis(1), [] {});
  EXPECT_EQ(told, (std::vector<TimePoint>{kStart + Millis(5), kStart + Millis(1)}));
}

}  // namespace
}  // namespace skerry::agent
