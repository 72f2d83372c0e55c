// A server that answers rubbish in Redis's place: the broker goes on by its share, whatever it is told; and
// nobody is told its password.
#include <thread>

#include "broker/redis/testing/fake_redis.h"
#include "tests/redis/flood.h"
#include "tests/support/variable.h"

namespace skerry::testing {
namespace {

using broker::testing::FakeRedis;

const std::string kTenants = "[default]\nrate = 1000\nburst = 1000\n";

/// Jobs are taken, and the broker says that it is on its own.
void ExpectFallback(const FakeRedis& fake, const std::string& what) {
  SharingBroker a(fake.path(), kTenants, {"--redis-timeout-ms", "200"});
  Flood to_a(a, "a");
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 20; ++i) to_a.Submit();
    ASSERT_TRUE(to_a.AwaitAnswers()) << what << a.Logs();
  }
  EXPECT_EQ(to_a.accepted(), 60u) << what;
  EXPECT_EQ(to_a.doubled(), 0u) << what;
  EXPECT_TRUE(a.AwaitDown()) << what;
  EXPECT_TRUE(a.watched().pool.broker().IsRunning()) << what;
}

TEST(HostileRedis, ThatAnswersRubbishIsNone) {
  for (const std::string rubbish : {"HTTP/1.1 400 Bad Request\r\n\r\n", "*2147483647\r\n", "$536870912\r\n",
                                    "-ERR no\r\n", ":1\r\n", "*1\r\n*1\r\n*1\r\n", FakeRedis::kClose, ""}) {
    const FakeRedis fake([&](int) { return rubbish; });
    ExpectFallback(fake, rubbish);
  }
}

TEST(HostileRedis, ThatBeginsWellAndThenLiesIsNone) {
  for (const std::string lie : {"*2\r\n:1\r\n:0\r\n:1\r\n", "*21\r\n", "*1\r\n:-4\r\n", "*1\r\n$1\r\nx\r\n",
                                "*1\r\n:9223372036854775807\r\n", "-ERR no\r\n", FakeRedis::kClose, ""}) {
    // Loaded, the first heartbeat well, and then this.
    const FakeRedis fake([&](int command) {
      return command == 0 ? std::string(FakeRedis::kLoaded) : command == 1 ? "*1\r\n:1\r\n" : lie;
    });
    SharingBroker a(fake.path(), kTenants, {"--redis-timeout-ms", "200"});
    Flood to_a(a, "a");
    for (int i = 0; i < 200; ++i) {
      to_a.Submit();
      if (i % 10 != 0) continue;
      ASSERT_TRUE(to_a.AwaitAnswers()) << lie << a.Logs();
    }
    ASSERT_TRUE(to_a.AwaitAnswers()) << lie << a.Logs();
    EXPECT_EQ(to_a.accepted(), 200u) << lie;
    EXPECT_EQ(to_a.doubled(), 0u) << lie;
    EXPECT_GT(a.Page().Value(R"(skerry_rates_decided_total{by="share"})"), 0) << lie;
    EXPECT_TRUE(a.watched().pool.broker().IsRunning()) << lie;
  }
}

TEST(HostileRedis, ThatRefusesThePasswordIsNoneAndThePasswordIsInNoLog) {
  SKERRY_NEEDS_REDIS();
  const RedisServer redis({"--requirepass", "right"});
  const Variable password("SKERRY_REDIS_PASSWORD", "hunter2");
  SharingBroker a(redis.path(), kTenants, {"--log-level", "trace"});
  Flood to_a(a, "a");
  to_a.Submit();
  ASSERT_TRUE(to_a.AwaitAnswers());
  const auto told = [&] { return a.Logs().find("WRONGPASS") != std::string::npos; };
  for (int i = 0; i < 200 && !told(); ++i) std::this_thread::sleep_for(Millis(50));
  EXPECT_TRUE(told()) << a.Logs();
  EXPECT_EQ(a.Logs().find("hunter2"), std::string::npos);
  EXPECT_EQ(a.Page().Value("skerry_redis_up"), 0);
}

TEST(HostileRedis, ThatKnowsThePasswordOfItsFileIsUp) {
  SKERRY_NEEDS_REDIS();
  const TempDir dir;
  WriteFile(dir / "password", "right\n");
  std::filesystem::permissions(dir / "password", std::filesystem::perms::owner_read);
  const RedisServer redis({"--requirepass", "right"});
  const SharingBroker a(redis.path(), kTenants,
                        {"--redis-password-file", dir / "password", "--redis-prefix", "mine:"});
  EXPECT_TRUE(a.AwaitUp(1)) << a.Logs();
}

}  // namespace
}  // namespace skerry::testing
