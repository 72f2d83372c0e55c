#include "common/curve/handshake_trouble.h"

#include <gtest/gtest.h>

namespace skerry::curve {
namespace {

const TimePoint kStart = TimePoint() + Millis(1'000'000);

TEST(HandshakeTrouble, LeavesTheFirstTriesToTheSocketThenWaitsTwiceAsLongEachTimeUpToALimit) {
  HandshakeTrouble trouble;
  for (std::uint64_t i = 1; i <= HandshakeTrouble::kQuickFailures; ++i)
    EXPECT_EQ(trouble.OnFailure(kStart).pause, Millis(0)) << i;
  for (const int pause : {250, 500, 1'000, 2'000, 4'000, 4'000, 4'000})
    EXPECT_EQ(trouble.OnFailure(kStart).pause, Millis(pause));
}

TEST(HandshakeTrouble, IsToldOnceAndAgainWhenItHasLastedWithTheCountOfFailures) {
  HandshakeTrouble trouble;
  EXPECT_TRUE(trouble.OnFailure(kStart).tell);
  EXPECT_FALSE(trouble.OnFailure(kStart + HandshakeTrouble::kTellAgain - Millis(1)).tell);
  const auto third = trouble.OnFailure(kStart + HandshakeTrouble::kTellAgain);
  EXPECT_TRUE(third.tell);
  EXPECT_EQ(third.failures, 3u);
  EXPECT_FALSE(trouble.OnFailure(kStart + 2 * HandshakeTrouble::kTellAgain - Millis(1)).tell);
}

TEST(HandshakeTrouble, IsForgottenWhenOneSucceeds) {
  HandshakeTrouble trouble;
  for (int i = 0; i < 10; ++i) trouble.OnFailure(kStart);
  trouble.OnSuccess();
  const auto next = trouble.OnFailure(kStart);
  EXPECT_EQ(next.pause, Millis(0));
  EXPECT_TRUE(next.tell);
  EXPECT_EQ(next.failures, 1u);
}

}  // namespace
}  // namespace skerry::curve
