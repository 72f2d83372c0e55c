#include "worker/agent/cells/broken_libraries.h"

#include <gtest/gtest.h>

namespace skerry::agent {
namespace {

using News = BrokenLibraries::News;

class BrokenLibrariesTest : public ::testing::Test {
 protected:
  News Fail(const std::string& key) { return broken_.Add(key, {}, now_); }
  /// The keys of those that are to be tried at `after`, joined.
  std::string DueAfter(Millis after) {
    now_ += after;
    std::string keys;
    for (const auto& [key, libraries] : broken_.TakeDue(now_)) keys += key;
    return keys;
  }

  BrokenLibraries broken_{{.most = 3, .first_delay = Millis(100), .longest_delay = Millis(350)}};
  TimePoint now_{std::chrono::hours(1)};
};

TEST_F(BrokenLibrariesTest, AreBrokenUntilTheyHaveBeenEvaluated) {
  EXPECT_FALSE(broken_.Ask("a"));
  EXPECT_FALSE(broken_.Remove("a"));
  EXPECT_EQ(Fail("a"), News::kFirst);
  EXPECT_TRUE(broken_.Ask("a"));
  EXPECT_FALSE(broken_.Ask("b"));
  EXPECT_EQ(Fail("a"), News::kAgain);
  now_ += Millis(100'000);
  EXPECT_TRUE(broken_.Ask("a")) << "time alone heals nothing";
  EXPECT_TRUE(broken_.Remove("a"));
  EXPECT_FALSE(broken_.Ask("a"));
  EXPECT_EQ(Fail("a"), News::kFirst);
}

TEST_F(BrokenLibrariesTest, AreTriedAgainAfterADelayThatDoublesWithEachFailureInARow) {
  Fail("a");
  EXPECT_EQ(broken_.NextRetry(), now_ + Millis(100));
  EXPECT_EQ(DueAfter(Millis(99)), "");
  EXPECT_EQ(DueAfter(Millis(1)), "a") << "whether or not anybody has asked";
  for (const int delay : {200, 350, 350}) {
    EXPECT_EQ(DueAfter(Millis(1'000)), "") << "it is being tried";
    broken_.Ask("a");
    Fail("a");
    EXPECT_EQ(broken_.NextRetry(), now_ + Millis(delay));
    EXPECT_EQ(DueAfter(Millis(delay - 1)), "");
    EXPECT_EQ(DueAfter(Millis(1)), "a");
  }
  broken_.Remove("a");
  Fail("a");
  EXPECT_EQ(DueAfter(Millis(100)), "a");
}

TEST_F(BrokenLibrariesTest, ThatNobodyAsksForAreLeftAlone) {
  Fail("a");
  EXPECT_EQ(DueAfter(Millis(100)), "a");
  Fail("a");
  EXPECT_EQ(broken_.NextRetry(), std::nullopt);
  EXPECT_EQ(DueAfter(Millis(100'000)), "");
  EXPECT_TRUE(broken_.Ask("a"));
  EXPECT_LE(broken_.NextRetry(), now_) << "its time came long ago";
  EXPECT_EQ(DueAfter(Millis(0)), "a");
}

TEST_F(BrokenLibrariesTest, ThatWereNotTriedToTheEndAreTriedAgainWhenAJobAsks) {
  Fail("a");
  EXPECT_EQ(DueAfter(Millis(100)), "a");
  broken_.GiveUp("a");
  broken_.GiveUp("b");
  EXPECT_EQ(DueAfter(Millis(0)), "") << "nobody has asked since";
  broken_.Ask("a");
  EXPECT_EQ(DueAfter(Millis(0)), "a");
}

TEST_F(BrokenLibrariesTest, TheEarliestIsNext) {
  Fail("a");
  now_ += Millis(10);
  Fail("b");
  EXPECT_EQ(broken_.NextRetry(), now_ + Millis(90));
  EXPECT_EQ(DueAfter(Millis(90)), "a");
  EXPECT_EQ(broken_.NextRetry(), now_ + Millis(10));
  EXPECT_EQ(DueAfter(Millis(10)), "b");
}

TEST_F(BrokenLibrariesTest, PastTheirBoundForgetTheOneLongestUnaskedFor) {
  for (const char* key : {"a", "b", "c"}) Fail(key);
  EXPECT_EQ(broken_.size(), 3u);
  broken_.Ask("a");
  Fail("d");
  EXPECT_EQ(broken_.size(), 3u);
  EXPECT_TRUE(broken_.Ask("a"));
  EXPECT_FALSE(broken_.Ask("b"));
  BrokenLibraries none({.most = 0});
  none.Add("a", {}, now_);
  EXPECT_FALSE(none.Ask("a"));
}

}  // namespace
}  // namespace skerry::agent
