#include "worker/agent/cells/unkeepable.h"

#include <gtest/gtest.h>

namespace skerry::agent {
namespace {

const TimePoint kStart{};
constexpr Millis kFor{100};

TEST(UnkeepablePrograms, AreRememberedForAWhileAndThenTriedAgain) {
  UnkeepablePrograms programs(4);
  EXPECT_FALSE(programs.Contains("a", kStart));
  programs.Add("a", kStart, kFor);
  EXPECT_TRUE(programs.Contains("a", kStart + Millis(99)));
  EXPECT_FALSE(programs.Contains("a", kStart + Millis(100)));
  EXPECT_EQ(programs.size(), 0u);
  programs.Add("a", kStart, kFor);
  programs.Add("a", kStart + Millis(50), kFor);
  EXPECT_TRUE(programs.Contains("a", kStart + Millis(149)));
  EXPECT_EQ(programs.size(), 1u);
}

TEST(UnkeepablePrograms, PastTheirBoundForgetTheOneLongestUnaskedFor) {
  UnkeepablePrograms programs(2);
  programs.Add("a", kStart, kFor);
  programs.Add("b", kStart, kFor);
  EXPECT_TRUE(programs.Contains("a", kStart));
  EXPECT_TRUE(programs.Contains("b", kStart));
  EXPECT_TRUE(programs.Contains("a", kStart));
  programs.Add("c", kStart, kFor);
  EXPECT_EQ(programs.size(), 2u);
  EXPECT_TRUE(programs.Contains("a", kStart));
  EXPECT_FALSE(programs.Contains("b", kStart));
  EXPECT_TRUE(programs.Contains("c", kStart));
}

TEST(UnkeepablePrograms, RememberNoneWhereNoneMayBe) {
  UnkeepablePrograms programs(0);
  programs.Add("a", kStart, kFor);
  EXPECT_FALSE(programs.Contains("a", kStart));
}

}  // namespace
}  // namespace skerry::agent
