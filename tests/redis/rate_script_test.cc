// The script in a real Redis: the same rates as in memory, by the server's clock, whatever lies in its keys.
#include "broker/redis/rate_script.h"

#include <signal.h>

#include <thread>

#include "broker/redis/redis_connection.h"
#include "tests/redis/redis_server.h"

namespace skerry::testing {
namespace {

using namespace skerry::broker;

constexpr Millis kPatience{10'000};
/// So slow that no test lasts until the next: an hour for each.
RateAsk Slow(const std::string& tenant, std::uint64_t burst) {
  return {tenant, {1, burst}, tenant + '\0', {}};
}

class RateScript : public ::testing::Test {
 protected:
  void SetUp() override {
    SKERRY_NEEDS_REDIS();
    signal(SIGPIPE, SIG_IGN);
    redis_ = std::make_unique<RedisServer>();
    Connect(kRateScript);
  }
  void Connect(std::string_view script) {
    RedisAddress address;
    address.path = redis_->path();
    auto connection = RedisConnection::Open(address, "", "", script, kPatience);
    ASSERT_TRUE(connection) << connection.error().message;
    connection_.emplace(*std::move(connection));
  }
  RateAnswers Ask(const std::vector<RateAsk>& asks, const std::vector<RateAsk>& returned = {},
                  const std::string& broker = "me") {
    const auto numbers = connection_->RunScript(ScriptArguments({asks, returned}, "p:", broker), kPatience);
    if (!numbers) {
      ADD_FAILURE() << numbers.error().message;
      return {};
    }
    auto answers = ReadAnswers(*numbers, asks.size());
    EXPECT_TRUE(answers) << answers.error().message;
    return answers ? *answers : RateAnswers{};
  }
  std::size_t Passed(const std::vector<RateAsk>& asks) {
    std::size_t passed = 0;
    for (const RateVerdict& verdict : Ask(asks).verdicts) passed += !verdict.wait;
    return passed;
  }
  /// Something else done in that Redis, by a connection of its own; what it returns must be a number.
  std::int64_t Do(const std::string& lua, const std::string& key = "x") {
    RedisAddress address;
    address.path = redis_->path();
    auto other = RedisConnection::Open(address, "", "", "return {" + lua + "}", kPatience);
    if (!other) return -1;
    const auto numbers = other->RunScript({"1", key}, kPatience);
    return numbers && !numbers->empty() ? numbers->front() : -1;
  }
  static std::string KeyOf(const RateAsk& ask) { return ScriptArguments({{ask}, {}}, "p:", "me").at(2); }

  std::unique_ptr<RedisServer> redis_;
  std::optional<RedisConnection> connection_;
};

TEST_F(RateScript, LetsABurstThroughInOneBatchOrInMany) {
  EXPECT_EQ(Passed(std::vector<RateAsk>(8, Slow("a", 5))), 5u);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(Passed({Slow("b", 5)}), 1u) << i;
  const auto verdict = Ask({Slow("b", 5)}).verdicts.at(0);
  ASSERT_TRUE(verdict.wait);
  EXPECT_EQ(verdict.wait->owner, RateOwner::kTenant);
  EXPECT_GT(verdict.wait->time, Millis(0));
  EXPECT_LE(verdict.wait->time, Millis(1'000));
}

TEST_F(RateScript, GoesByTheServersClock) {
  const RateAsk fast{"t", {1'000, 1}, "", {}};
  const auto taken = Ask({fast, fast}).verdicts;
  EXPECT_FALSE(taken.at(0).wait);
  ASSERT_TRUE(taken.at(1).wait);
  EXPECT_EQ(taken.at(1).wait->time, Millis(1));
  std::this_thread::sleep_for(Millis(5));
  EXPECT_EQ(Passed({fast}), 1u);
}

TEST_F(RateScript, CountsForTenantAndUserBothOrForNeither) {
  RateAsk ask = Slow("t", 3);
  ask.user = std::string("t\0u", 3);
  ask.user_rate = {1, 1};
  const auto first = Ask({ask, ask, ask, ask}).verdicts;
  EXPECT_FALSE(first.at(0).wait);
  for (int i = 1; i < 4; ++i) EXPECT_EQ(first.at(i).wait->owner, RateOwner::kUser) << i;
  EXPECT_EQ(Passed(std::vector<RateAsk>(5, Slow("t", 3))), 2u) << "what its user was refused cost it nothing";
  ask.user = std::string("t\0v", 3);
  const auto other = Ask({ask}).verdicts;
  EXPECT_EQ(other.at(0).wait->owner, RateOwner::kTenant);
  RateAsk user_alone = ask;
  user_alone.tenant_rate = {};
  EXPECT_EQ(Passed({user_alone}), 1u) << "nor was the user charged for what its tenant was refused";
}

TEST_F(RateScript, TakesBackWhatWasNotNeededAndNoMoreThanThat) {
  EXPECT_EQ(Passed(std::vector<RateAsk>(4, Slow("t", 4))), 4u);
  Ask({}, {Slow("t", 4), Slow("t", 4)});
  EXPECT_EQ(Passed(std::vector<RateAsk>(4, Slow("t", 4))), 2u);
  Ask({}, std::vector<RateAsk>(100, Slow("t", 4)));
  EXPECT_EQ(Passed(std::vector<RateAsk>(9, Slow("t", 4))), 4u) << "a burst at the most";
}

TEST_F(RateScript, FindsNothingInKeysThatHoldAnythingElseAndGoesOn) {
  const RateAsk ask = Slow("t", 2);
  for (const std::string lua : {"redis.call('DEL', KEYS[1]), redis.call('LPUSH', KEYS[1], 'x')",
                                "redis.call('DEL', KEYS[1]), redis.call('APPEND', KEYS[1], 'rubbish')",
                                "redis.call('DEL', KEYS[1]), redis.call('APPEND', KEYS[1], 'nan')",
                                "redis.call('DEL', KEYS[1]), redis.call('APPEND', KEYS[1], '-inf')",
                                "redis.call('DEL', KEYS[1]), redis.call('APPEND', KEYS[1], '')"}) {
    ASSERT_GE(Do(lua, KeyOf(ask)), 0) << lua;
    EXPECT_EQ(Passed({ask, ask, ask}), 2u) << lua;
  }
  ASSERT_GE(Do("redis.call('DEL', KEYS[1]), redis.call('APPEND', KEYS[1], '1e300')", KeyOf(ask)), 0);
  const auto verdict = Ask({ask}).verdicts.at(0);
  ASSERT_TRUE(verdict.wait);
  EXPECT_LE(verdict.wait->time, Millis(1'000)) << "a clock that was set back";
  ASSERT_GE(Do("redis.call('DEL', KEYS[1]), redis.call('LPUSH', KEYS[1], 'x')", "p:{rates}:brokers"), 0);
  EXPECT_EQ(Ask({}).brokers, 1u);
}

TEST_F(RateScript, LeavesNothingBehindThatDoesNotEnd) {
  const RateAsk ask = Slow("t", 2);
  Ask({ask, ask});
  EXPECT_EQ(Do("redis.call('DBSIZE')"), 2);
  const std::int64_t life = Do("redis.call('PTTL', KEYS[1])", KeyOf(ask));
  EXPECT_GT(life, 1'000);
  EXPECT_LE(life, 3'000);
  const std::int64_t brokers = Do("redis.call('PTTL', KEYS[1])", "p:{rates}:brokers");
  EXPECT_GT(brokers, 0);
  EXPECT_LE(brokers, kBrokerWindow.count());
  Ask({Slow("only asked", 0 + 1)});
  Ask({}, {Slow("returned by nobody", 1)});
  EXPECT_EQ(Do("redis.call('DBSIZE')"), 4);
}

TEST_F(RateScript, CountsTheBrokersThatItHasHeardOfLately) {
  EXPECT_EQ(Ask({}, {}, "a").brokers, 1u);
  EXPECT_EQ(Ask({}, {}, "b").brokers, 2u);
  EXPECT_EQ(Ask({}, {}, "a").brokers, 2u);
  ASSERT_GE(Do("redis.call('ZADD', KEYS[1], 1, 'long ago'), redis.call('ZADD', KEYS[1], 1e15, 'to come')",
               "p:{rates}:brokers"),
            0);
  EXPECT_EQ(Ask({}, {}, "a").brokers, 2u);
}

TEST_F(RateScript, IsSentAgainToAServerThatForgotIt) {
  EXPECT_EQ(Passed({Slow("t", 3)}), 1u);
  ASSERT_GE(Do("redis.call('SCRIPT', 'FLUSH') and 1 or 1"), -1);  // not allowed inside a script
  redis_->Kill();
  redis_->Start();
  Connect("return {1}");  // another script is what this connection knows the name of
  EXPECT_TRUE(connection_->RunScript({"0"}, kPatience));
}

TEST(RateScriptAccess, NeedsTheRightPassword) {
  SKERRY_NEEDS_REDIS();
  signal(SIGPIPE, SIG_IGN);
  const RedisServer redis({"--requirepass", "secret", "--databases", "3"});
  RedisAddress address;
  address.path = redis.path();
  const auto open = [&](const std::string& user, const std::string& password) {
    return RedisConnection::Open(address, user, password, kRateScript, kPatience);
  };
  EXPECT_TRUE(open("", "secret"));
  EXPECT_TRUE(open("default", "secret"));
  for (const std::string wrong : {"", "wrong"}) {
    const auto refused = open("", wrong);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().message.find("secret"), std::string::npos);
  }
  address.database = 2;
  EXPECT_TRUE(open("", "secret"));
  address.database = 3;
  EXPECT_FALSE(open("", "secret"));
}

}  // namespace
}  // namespace skerry::testing
