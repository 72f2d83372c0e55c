// What a connection makes of servers that are none, or that answer wrongly: a fault, in bounded time and
// memory.
#include "broker/redis/redis_connection.h"

#include <gtest/gtest.h>
#include <signal.h>

#include "broker/redis/testing/fake_redis.h"

namespace skerry::broker {
namespace {

using testing::FakeRedis;

constexpr Millis kPatience{10'000};
constexpr Millis kBrief{100};

class Connection : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { signal(SIGPIPE, SIG_IGN); }

  static Result<RedisConnection> Open(const FakeRedis& fake, Millis timeout = kPatience,
                                      const std::string& password = {}) {
    RedisAddress address;
    address.path = fake.path();
    return RedisConnection::Open(address, "", password, "return 1", timeout);
  }
  /// Why the script could not be run by a server that says this to it.
  static std::string FaultOf(const std::string& answer, Millis timeout = kPatience) {
    FakeRedis fake([&](int command) { return command == 0 ? FakeRedis::kLoaded : answer; });
    auto connection = Open(fake);
    if (!connection) return "not even open: " + connection.error().message;
    const auto numbers = connection->RunScript({"0"}, timeout);
    return numbers ? "none" : numbers.error().message;
  }
};

TEST_F(Connection, RunsAScriptByItsNameAndReadsItsNumbers) {
  FakeRedis fake([](int command) { return command == 0 ? FakeRedis::kLoaded : "*2\r\n:5\r\n:-7\r\n"; });
  auto connection = Open(fake);
  ASSERT_TRUE(connection) << connection.error().message;
  for (int i = 0; i < 3; ++i) {
    const auto numbers = connection->RunScript({"0"}, kPatience);
    ASSERT_TRUE(numbers) << numbers.error().message;
    EXPECT_EQ(*numbers, (std::vector<std::int64_t>{5, -7}));
  }
}

TEST_F(Connection, SendsTheScriptAgainWhereTheServerHasForgottenItOnce) {
  FakeRedis fake([](int command) {
    return command == 0   ? FakeRedis::kLoaded
           : command == 1 ? "-NOSCRIPT No matching script\r\n"
                          : "*1\r\n:5\r\n";
  });
  auto connection = Open(fake);
  ASSERT_TRUE(connection);
  EXPECT_TRUE(connection->RunScript({"0"}, kPatience));
  EXPECT_EQ(FaultOf("-NOSCRIPT No matching script\r\n"), "the script failed: NOSCRIPT No matching script");
}

TEST_F(Connection, AnAnswerOfAnotherKindIsAFault) {
  EXPECT_EQ(FaultOf("+OK\r\n"), "the script answers no list");
  EXPECT_EQ(FaultOf(":1\r\n"), "the script answers no list");
  EXPECT_EQ(FaultOf("$-1\r\n"), "the script answers no list");
  EXPECT_EQ(FaultOf("*2\r\n:1\r\n$1\r\n1\r\n"), "the script answers what is no number");
  EXPECT_EQ(FaultOf("*1\r\n*1\r\n:1\r\n"), "the script answers what is no number");
  EXPECT_EQ(FaultOf("-OOM command not allowed\x1b\r\n"), "the script failed: OOM command not allowed?");
}

TEST_F(Connection, RubbishIsAFault) {
  for (const std::string rubbish :
       {"HTTP/1.1 400 Bad Request\r\n\r\n", "\r\n\r\n", "*\r\n", "*x\r\n", "$-5\r\n", "\xff\xfe"})
    EXPECT_NE(FaultOf(rubbish).find("no answer of Redis"), std::string::npos) << rubbish;
  EXPECT_NE(FaultOf(FakeRedis::kClose).find("no answer"), std::string::npos);
}

TEST_F(Connection, AnAnswerTooLargeIsAFaultBeforeItIsKept) {
  const auto list = [](std::size_t size) {
    std::string text = "*" + std::to_string(size) + "\r\n";
    for (std::size_t i = 0; i < size; ++i) text += ":1\r\n";
    return text;
  };
  EXPECT_EQ(FaultOf(list(RedisConnection::kMaxElements)), "none");
  EXPECT_NE(FaultOf(list(RedisConnection::kMaxElements + 1)).find("no answer of Redis"), std::string::npos);
  EXPECT_NE(FaultOf("*2147483647\r\n").find("no answer of Redis"), std::string::npos);
  const auto text = [](std::size_t size) { return "-" + std::string(size, 'x') + "\r\n"; };
  EXPECT_NE(FaultOf(text(RedisConnection::kMaxTextBytes)).find("the script failed"), std::string::npos);
  EXPECT_NE(FaultOf(text(RedisConnection::kMaxTextBytes + 1)).find("no answer of Redis"), std::string::npos);
  // It says how long it is, and is never whole: the pieces are counted.
  EXPECT_EQ(FaultOf("$536870912\r\n" + std::string(16 << 20, 'x')), "an answer that does not end");
}

TEST_F(Connection, SilenceIsAFaultInTime) {
  EXPECT_EQ(FaultOf("", kBrief), "no answer within 100 ms");
  EXPECT_EQ(FaultOf("*2\r\n:1\r\n", kBrief), "no answer within 100 ms");
  FakeRedis fake([](int) { return std::string(); });
  EXPECT_FALSE(Open(fake, kBrief));
}

TEST_F(Connection, WhatNobodyAskedForIsAFault) {
  EXPECT_EQ(FaultOf("*1\r\n:1\r\n*1\r\n:0\r\n"), "it says more than was asked for");
  FakeRedis fake([](int command) {
    return command == 0 ? FakeRedis::kLoaded : std::string(command == 1 ? "*1\r\n:1\r\n" : FakeRedis::kClose);
  });
  auto connection = Open(fake);
  ASSERT_TRUE(connection);
  ASSERT_TRUE(connection->RunScript({"0"}, kPatience));
  EXPECT_FALSE(connection->RunScript({"0"}, kPatience));
  EXPECT_FALSE(connection->RunScript({"0"}, kPatience));
}

TEST_F(Connection, AServerThatRefusesIsToldOfAndThePasswordIsNot) {
  FakeRedis fake([](int) { return "-WRONGPASS invalid username-password pair\r\n"; });
  const auto refused = Open(fake, kPatience, "secret");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "AUTH is refused: WRONGPASS invalid username-password pair");
  FakeRedis odd([](int) { return "$3\r\nabc\r\n"; });
  EXPECT_EQ(Open(odd).error().message, "SCRIPT LOAD answers no name of a script");
  RedisAddress nowhere;
  nowhere.path = "/nowhere/redis.sock";
  EXPECT_FALSE(RedisConnection::Open(nowhere, "", "", "return 1", kPatience));
}

}  // namespace
}  // namespace skerry::broker
