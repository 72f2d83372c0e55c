#include "broker/tenants/rate_limit.h"

#include <gtest/gtest.h>

#include <string>

#include "broker/tenants/turn_budget.h"

namespace skerry::broker {
namespace {

constexpr Rate kTenPerSecond{10, 3};

TEST(RateLimiter, LetsABurstThroughAndThenOneAtATimeToTheMillisecond) {
  RateLimiter limiter;
  TimePoint now(Millis(1'000));
  for (int i = 0; i < 3; ++i) {
    ASSERT_FALSE(limiter.WaitOf("t", kTenPerSecond, now)) << i;
    limiter.Take("t", kTenPerSecond, now);
  }
  EXPECT_EQ(limiter.WaitOf("t", kTenPerSecond, now), Millis(100));
  EXPECT_EQ(limiter.WaitOf("t", kTenPerSecond, now + Millis(99)), Millis(1));
  EXPECT_FALSE(limiter.WaitOf("t", kTenPerSecond, now + Millis(100)));
  limiter.Take("t", kTenPerSecond, now + Millis(100));
  EXPECT_EQ(limiter.WaitOf("t", kTenPerSecond, now + Millis(100)), Millis(100));
}

TEST(RateLimiter, APauseGivesBackTheBurstAndNoMore) {
  RateLimiter limiter;
  TimePoint now;
  for (int i = 0; i < 3; ++i) limiter.Take("t", kTenPerSecond, now);
  now += Millis(1'000'000);
  for (int i = 0; i < 3; ++i) {
    ASSERT_FALSE(limiter.WaitOf("t", kTenPerSecond, now)) << i;
    limiter.Take("t", kTenPerSecond, now);
  }
  EXPECT_TRUE(limiter.WaitOf("t", kTenPerSecond, now));
}

TEST(RateLimiter, AskingCostsNothingAndWithoutARateNothingIsKept) {
  RateLimiter limiter;
  const TimePoint now;
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(limiter.WaitOf("t", kTenPerSecond, now));
  limiter.Take("t", Rate(), now);
  EXPECT_FALSE(limiter.WaitOf("t", Rate(), now));
  EXPECT_EQ(limiter.size(), 0u);
}

TEST(RateLimiter, NamesAreApartAndSoManyAreKnownAndNoMore) {
  RateLimiter limiter;
  const TimePoint now;
  constexpr Rate kOne{1, 1};
  for (std::size_t i = 0; i <= RateLimiter::kMaxNames; ++i) {
    ASSERT_FALSE(limiter.WaitOf(std::to_string(i), kOne, now));
    limiter.Take(std::to_string(i), kOne, now);
  }
  EXPECT_EQ(limiter.size(), RateLimiter::kMaxNames);
  EXPECT_FALSE(limiter.WaitOf("0", kOne, now)) << "forgotten";
  EXPECT_TRUE(limiter.WaitOf("1", kOne, now));
}

TEST(RateLimiter, ABrokersShareIsAPartOfTheRateExactlyAndOfTheBurstAtLeastOne) {
  RateLimiter limiter;
  const TimePoint now;
  const Rate share{10, 7, 3};
  EXPECT_EQ(BurstOf(share), 2u);
  for (int i = 0; i < 2; ++i) {
    ASSERT_FALSE(limiter.WaitOf("t", share, now)) << i;
    limiter.Take("t", share, now);
  }
  EXPECT_EQ(limiter.WaitOf("t", share, now), Millis(300));
  EXPECT_EQ(limiter.WaitOf("t", share, now + Millis(299)), Millis(1));
  EXPECT_FALSE(limiter.WaitOf("t", share, now + Millis(300)));
  EXPECT_EQ(BurstOf({10, 2, 3}), 1u);
}

TEST(RateLimiter, WhatOthersLetThroughUsesUpTheBurstAndLeavesNoDebt) {
  RateLimiter limiter;
  const TimePoint now;
  limiter.Note("t", kTenPerSecond, now);
  limiter.Note("t", kTenPerSecond, now);
  EXPECT_FALSE(limiter.WaitOf("t", kTenPerSecond, now));
  for (int i = 0; i < 100; ++i) limiter.Note("t", kTenPerSecond, now);
  EXPECT_EQ(limiter.WaitOf("t", kTenPerSecond, now), Millis(100));
  EXPECT_FALSE(limiter.WaitOf("t", kTenPerSecond, now + Millis(100)));
  limiter.Note("u", Rate(), now);
  EXPECT_EQ(limiter.size(), 1u);
}

TEST(TurnBudget, CountsEachTurnOfEachTenantAndForgetsTheOneUsedLongestAgo) {
  TurnBudget turns;
  const TenantId a("a"), b("b");
  for (int i = 0; i < 3; ++i) turns.Count(a, TurnId("1"));
  turns.Count(b, TurnId("1"));
  EXPECT_EQ(turns.Of(a, TurnId("1")), 3u);
  EXPECT_EQ(turns.Of(b, TurnId("1")), 1u);
  EXPECT_EQ(turns.Of(a, TurnId("2")), 0u);
  for (std::size_t i = 0; i < TurnBudget::kMaxTurns - 2; ++i) turns.Count(a, TurnId("x" + std::to_string(i)));
  turns.Count(a, TurnId("1"));
  turns.Count(a, TurnId("one more"));
  EXPECT_EQ(turns.size(), TurnBudget::kMaxTurns);
  EXPECT_EQ(turns.Of(b, TurnId("1")), 0u);
  EXPECT_EQ(turns.Of(a, TurnId("1")), 4u);
}

}  // namespace
}  // namespace skerry::broker
