// A Redis that is killed, started again, or hangs: no job is lost, each broker enforces its share, and it
// heals.
#include <signal.h>

#include <thread>

#include "tests/redis/flood.h"
#include "tests/support/skerry_run.h"

namespace skerry::testing {
namespace {

constexpr double kTolerance = 0.05;

class LostRedis : public ::testing::Test {
 protected:
  void SetUp() override {
    SKERRY_NEEDS_REDIS();
    redis_ = std::make_unique<RedisServer>();
  }
  std::unique_ptr<RedisServer> redis_;
};

TEST_F(LostRedis, LeavesEachBrokerItsShareUntilItIsBack) {
  // Bursts of two seconds: so long may a busy machine keep the test, or a broker, from its work.
  constexpr double kRate = 200, kBurst = 400;
  const std::string tenants = "[default]\nrate = 200\nburst = 400\n";
  const std::vector<std::string> patient = {"--redis-timeout-ms", "10000"};
  SharingBroker a(redis_->path(), tenants, patient);
  SharingBroker b(redis_->path(), tenants, patient);
  ASSERT_TRUE(a.AwaitUp(2) && b.AwaitUp(2)) << a.Logs() << b.Logs();
  Flood to_a(a, "a"), to_b(b, "b");
  Offer({&to_a, &to_b}, Millis(2'500));  // the burst is gone

  redis_->Kill();
  ASSERT_TRUE(a.AwaitDown() && b.AwaitDown()) << a.Logs() << b.Logs();
  const std::uint64_t before = to_a.accepted();
  const Measured lost = Offer({&to_a, &to_b}, Millis(5'000));
  EXPECT_GE(lost.accepted, (1 - kTolerance) * kRate * lost.shortest);
  EXPECT_LE(lost.accepted, (1 + kTolerance) * (kBurst + kRate * lost.longest));
  const auto of_a = static_cast<double>(to_a.accepted() - before);
  EXPECT_GE(of_a, (1 - kTolerance) * kRate / 2 * lost.shortest);
  EXPECT_LE(of_a, (1 + kTolerance) * (kBurst + kRate * lost.longest) / 2) << "half of it is this broker's";

  redis_->Start();
  ASSERT_TRUE(a.AwaitUp(2) && b.AwaitUp(2)) << a.Logs() << b.Logs();
  const Measured healed = Offer({&to_a, &to_b}, Millis(5'000));
  EXPECT_GE(healed.accepted, (1 - kTolerance) * kRate * healed.shortest);
  EXPECT_LE(healed.accepted, (1 + kTolerance) * (kBurst + kRate * healed.longest));
  EXPECT_EQ(to_a.doubled() + to_b.doubled(), 0u);
  for (const SharingBroker* broker : {&a, &b}) {
    const MetricsPage page = broker->Page();
    EXPECT_GE(page.Value("skerry_redis_losses_total"), 1) << broker->Logs();
    EXPECT_GT(page.Value(R"(skerry_rates_decided_total{by="share"})"), 0);
  }
}

TEST_F(LostRedis, CostsNoJobItsResultWhileJobsRun) {
  const std::string tenants = "[default]\nrate = 100000\nburst = 100000\n";
  SharingBroker a(redis_->path(), tenants, {}, 1);
  SharingBroker b(redis_->path(), tenants, {}, 1);
  ASSERT_TRUE(a.AwaitUp(2) && b.AwaitUp(2)) << a.Logs() << b.Logs();
  for (SharingBroker* broker : {&a, &b})
    ASSERT_GT(broker->watched().AwaitWorker().Value("skerry_workers_accepting"), 0) << broker->Logs();
  std::vector<Job> jobs;
  for (int i = 0; i < 600; ++i) jobs.emplace_back("j" + std::to_string(i), "return " + std::to_string(i));
  const auto run = [&](SharingBroker& broker) {
    const RunReport report = broker.watched().pool.Run(jobs);  // demands one result for each job
    std::size_t ok = 0;
    for (const auto& [id, result] : report.results) ok += result.ok();
    EXPECT_EQ(ok, jobs.size()) << broker.Logs();
  };
  std::thread to_a([&] { run(a); });
  std::thread to_b([&] { run(b); });
  for (int i = 0; i < 3; ++i) {
    std::this_thread::sleep_for(Millis(300));
    redis_->Kill();
    EXPECT_TRUE(a.AwaitDown() && b.AwaitDown());
    std::this_thread::sleep_for(Millis(300));
    redis_->Start();
    EXPECT_TRUE(a.AwaitUp(2) && b.AwaitUp(2)) << a.Logs() << b.Logs();
  }
  to_a.join();
  to_b.join();
  EXPECT_GE(a.Page().Value("skerry_redis_losses_total"), 3);
}

TEST_F(LostRedis, ThatHangsHoldsAJobUpNoLongerThanTheTimeoutAndIsFoundAgain) {
  SharingBroker a(redis_->path(), "[default]\nrate = 100\nburst = 100\n", {"--redis-timeout-ms", "200"});
  ASSERT_TRUE(a.AwaitUp(1)) << a.Logs();
  Flood to_a(a, "a");
  redis_->Signal(SIGSTOP);
  for (int i = 0; i < 50; ++i) to_a.Submit();
  ASSERT_TRUE(to_a.AwaitAnswers()) << a.Logs();
  EXPECT_EQ(to_a.accepted(), 50u) << "alone, it may let through all of the burst";
  EXPECT_TRUE(a.AwaitDown());
  // A loss is found without any job, too: see the heartbeat.
  redis_->Signal(SIGCONT);
  ASSERT_TRUE(a.AwaitUp(1)) << a.Logs();
  redis_->Signal(SIGSTOP);
  EXPECT_TRUE(a.AwaitDown()) << a.Logs();
  redis_->Signal(SIGCONT);
  EXPECT_TRUE(a.AwaitUp(1)) << a.Logs();
  const MetricsPage page = a.Page();
  EXPECT_GT(page.Value(R"(skerry_rates_decided_total{by="share"})"), 0);
  to_a.Submit();
  EXPECT_TRUE(to_a.AwaitAnswers());
  EXPECT_EQ(to_a.doubled(), 0u);
}

TEST_F(LostRedis, ThatWasNeverThereLeavesTheShareThatTheOperatorSays) {
  redis_->Kill();
  SharingBroker a(redis_->path(), "[default]\nrate = 1\nburst = 40\n", {"--redis-brokers", "4"});
  Flood to_a(a, "a");
  for (int i = 0; i < 40; ++i) to_a.Submit();
  ASSERT_TRUE(to_a.AwaitAnswers()) << a.Logs();
  EXPECT_EQ(a.Page().Value("skerry_rate_brokers"), 4);
  EXPECT_GE(to_a.accepted(), 10u);
  EXPECT_LT(to_a.accepted(), 20u) << "a quarter, and what a loaded machine's seconds give";
  const std::string log = a.Logs();
  const std::size_t first = log.find("Redis cannot be asked");
  ASSERT_NE(first, std::string::npos) << log;
  EXPECT_EQ(log.find("Redis cannot be asked", first + 1), std::string::npos) << "said once";
}

}  // namespace
}  // namespace skerry::testing
