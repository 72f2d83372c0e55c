#include "worker/agent/cells/fork_pressure.h"

#include <gtest/gtest.h>

namespace skerry::agent {
namespace {

constexpr Millis kWindow = ForkPressure::Options{}.window;

class ForkPressureTest : public ::testing::Test {
 protected:
  /// One window's forks, `queued` of them behind others; whether another cell was called for.
  bool Window(std::size_t forks, std::size_t queued, std::size_t pending = ForkPressure::kQueued,
              std::size_t jobs_waiting = 1) {
    bool called = false;
    for (std::size_t i = 0; i < forks; ++i)
      called |= pressure_.Note(i < queued ? jobs_waiting : 0, i < queued ? pending : 0, now_);
    now_ += kWindow;
    return called;
  }

  ForkPressure pressure_{{}};
  TimePoint now_{std::chrono::hours(1)};
};

TEST_F(ForkPressureTest, TwoFullWindowsCallForAnotherCellOnce) {
  EXPECT_FALSE(Window(500, 400));
  EXPECT_FALSE(Window(500, 400));
  EXPECT_TRUE(Window(500, 400)) << "the two before it are over";
  EXPECT_FALSE(Window(500, 400)) << "the new cell is given as long";
}

TEST_F(ForkPressureTest, OneForkTooFewOrOneTooFewQueuedDoesNot) {
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(Window(499, 499));
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(Window(500, 399));
}

TEST_F(ForkPressureTest, ForksThatNoJobWaitsForOrThatFindACellAtWorkDoNotCount) {
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(Window(500, 500, ForkPressure::kQueued - 1));
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(Window(500, 500, ForkPressure::kQueued, 0));
}

TEST_F(ForkPressureTest, APauseInBetweenBeginsAnew) {
  EXPECT_FALSE(Window(500, 500));
  now_ += 2 * kWindow;
  EXPECT_FALSE(Window(500, 500));
  EXPECT_FALSE(Window(500, 500));
  EXPECT_TRUE(Window(500, 500));
}

}  // namespace
}  // namespace skerry::agent
