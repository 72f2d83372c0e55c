#include "broker/redis/rate_script.h"

#include <gtest/gtest.h>

namespace skerry::broker {
namespace {

using Words = std::vector<std::string>;

RateAsk Ask(const std::string& tenant, const std::string& user = {}) {
  return {tenant, {10, 3}, tenant + '\0' + user, user.empty() ? Rate() : Rate{2, 1}};
}

TEST(RateScript, IsAskedWithEachKeyOnceAndAsksInTheirOrder) {
  const Words words = ScriptArguments({{Ask("a", "x"), Ask("b"), Ask("a", "x")}, {Ask("b")}}, "p:", "me");
  ASSERT_EQ(words.size(), 1u + 4 + 2 + 1 + 3 * 3 + 3 * 2);
  EXPECT_EQ(words[0], "4");
  EXPECT_EQ(words[1], "p:{rates}:brokers");
  EXPECT_TRUE(words[2].starts_with("p:{rates}:t:"));
  EXPECT_TRUE(words[3].starts_with("p:{rates}:u:"));
  EXPECT_TRUE(words[4].starts_with("p:{rates}:t:"));
  EXPECT_NE(words[2], words[4]);
  EXPECT_EQ(Words(words.begin() + 5, words.begin() + 8), (Words{"me", "5000", "3"}));
  EXPECT_EQ(Words(words.begin() + 8, words.begin() + 17),
            (Words{"100000", "3", "0", "500000", "1", "0", "100000", "3", "1"}));
  EXPECT_EQ(Words(words.begin() + 17, words.end()), (Words{"1", "2", "3", "0", "1", "2"}));
}

TEST(RateScript, KeysAreShortWhateverTheNamesAreAndTellThemApart) {
  const auto key = [](const RateAsk& ask) { return ScriptArguments({{ask}, {}}, "p:", "me").at(2); };
  const std::string longest = key(Ask(std::string(256, 't')));
  EXPECT_EQ(longest.size(), std::string("p:{rates}:t:").size() + 32);
  EXPECT_EQ(longest.find("ttt"), std::string::npos);
  EXPECT_NE(key(Ask("a")), key(Ask("b")));
  // A tenant whose name ends as another's user begins.
  RateAsk one = Ask("a", "bc"), other = Ask("ab", "c");
  one.tenant_rate = other.tenant_rate = {};
  EXPECT_NE(key(one), key(other));
}

TEST(RateScript, AHeartbeatAsksForNothing) {
  EXPECT_EQ(ScriptArguments({}, "p:", "me"), (Words{"1", "p:{rates}:brokers", "me", "5000", "0"}));
}

TEST(RateScript, AnswersAreVerdictsInTheirOrder) {
  const auto answers = ReadAnswers({2, 0, 70, -5}, 3);
  ASSERT_TRUE(answers);
  EXPECT_EQ(answers->brokers, 2u);
  ASSERT_EQ(answers->verdicts.size(), 3u);
  EXPECT_FALSE(answers->verdicts[0].wait);
  EXPECT_EQ(answers->verdicts[1].wait, (RateWait{RateOwner::kTenant, Millis(70)}));
  EXPECT_EQ(answers->verdicts[2].wait, (RateWait{RateOwner::kUser, Millis(5)}));
}

TEST(RateScript, AnswersThatCannotBeAreRefused) {
  constexpr std::int64_t kWeek = 7ll * 24 * 3600 * 1000;
  EXPECT_FALSE(ReadAnswers({}, 0));
  EXPECT_FALSE(ReadAnswers({1}, 1));
  EXPECT_FALSE(ReadAnswers({1, 0, 0}, 1));
  EXPECT_FALSE(ReadAnswers({0, 0}, 1));
  EXPECT_FALSE(ReadAnswers({-1, 0}, 1));
  EXPECT_FALSE(ReadAnswers({1'000'001, 0}, 1));
  EXPECT_TRUE(ReadAnswers({1'000'000, 0}, 1));
  EXPECT_TRUE(ReadAnswers({1, kWeek, -kWeek}, 2));
  EXPECT_FALSE(ReadAnswers({1, kWeek + 1}, 1));
  EXPECT_FALSE(ReadAnswers({1, -kWeek - 1}, 1));
}

}  // namespace
}  // namespace skerry::broker
