#include "worker/agent/unkeepable.h"

#include <gtest/gtest.h>

namespace skerry::agent {
namespace {

const TimePoint kStart{};

TEST(UnkeepablePrograms, AreRememberedForAWhileAndThenTriedAgain) {
  UnkeepablePrograms programs(4, Millis(100));
  EXPECT_FALSE(programs.Contains("a", kStart));
  programs.Add("a", kStart);
  EXPECT_TRUE(programs.Contains("a", kStart + Millis(99)));
  EXPECT_FALSE(programs.Contains("a", kStart + Millis(100)));
  EXPECT_EQ(programs.size(), 0u);
  programs.Add("a", kStart);
  programs.Add("a", kStart + Millis(50));
  EXPECT_TRUE(programs.Contains("a", kStart + Millis(149)));
  EXPECT_EQ(programs.size(), 1u);
}

TEST(UnkeepablePrograms, PastTheirBoundForgetTheOneLongestUnaskedFor) {
  UnkeepablePrograms programs(2, Millis(100));
  programs.Add("a", kStart);
  programs.Add("b", kStart);
  EXPECT_TRUE(programs.Contains("a", kStart));
  EXPECT_TRUE(programs.Contains("b", kStart));
  EXPECT_TRUE(programs.Contains("a", kStart));
  programs.Add("c", kStart);
  EXPECT_EQ(programs.size(), 2u);
  EXPECT_TRUE(programs.Contains("a", kStart));
  EXPECT_FALSE(programs.Contains("b", kStart));
  EXPECT_TRUE(programs.Contains("c", kStart));
}

TEST(UnkeepablePrograms, RememberNoneWhereNoneMayBe) {
  UnkeepablePrograms programs(0, Millis(100));
  programs.Add("a", kStart);
  EXPECT_FALSE(programs.Contains("a", kStart));
}

}  // namespace
}  // namespace skerry::agent
