// Two brokers and a real Redis: together they let through what one would alone.
#include <signal.h>

#include <thread>

#include "broker/redis/redis_link.h"
#include "tests/redis/flood.h"

namespace skerry::testing {
namespace {

constexpr double kRate = 200;
// Two seconds' worth: so long may a busy machine keep the test, or a broker, from its work.
constexpr double kBurst = 400;
constexpr const char* kTenants = "[default]\nrate = 200\nburst = 400\n";
constexpr double kTolerance = 0.05;
// What is measured is the rate, not whether this machine answers in time.
const std::vector<std::string> kPatient = {"--redis-timeout-ms", "10000"};

class SharedRates : public ::testing::Test {
 protected:
  void SetUp() override {
    SKERRY_NEEDS_REDIS();
    redis_ = std::make_unique<RedisServer>();
  }
  std::unique_ptr<RedisServer> redis_;
};

TEST_F(SharedRates, TwoBrokersLetThroughOneRateTogetherWithinFivePercent) {
  SharingBroker a(redis_->path(), kTenants, kPatient);
  SharingBroker b(redis_->path(), kTenants, kPatient);
  ASSERT_TRUE(a.AwaitUp(2)) << a.Logs();
  ASSERT_TRUE(b.AwaitUp(2)) << b.Logs();
  Flood to_a(a, "a"), to_b(b, "b");
  const Measured measured = Offer({&to_a, &to_b}, Millis(6'000));
  EXPECT_GE(measured.accepted, (1 - kTolerance) * (kBurst + kRate * measured.shortest))
      << a.Logs() << b.Logs();
  EXPECT_LE(measured.accepted, (1 + kTolerance) * (kBurst + kRate * measured.longest));
  EXPECT_GT(to_a.accepted(), 0u);
  EXPECT_GT(to_b.accepted(), 0u);
  EXPECT_EQ(to_a.doubled() + to_b.doubled(), 0u);
  RecordProperty("accepted", std::to_string(measured.accepted));
  RecordProperty("allowed", std::to_string(kBurst + kRate * measured.longest));
  for (const SharingBroker* broker : {&a, &b}) {
    const MetricsPage page = broker->Page();
    EXPECT_EQ(page.Value(R"(skerry_rates_decided_total{by="share"})"), 0) << broker->Logs();
    EXPECT_GT(page.Value(R"(skerry_rates_decided_total{by="redis"})"), 0);
    EXPECT_EQ(page.Value("skerry_redis_losses_total"), 0);
  }
}

TEST_F(SharedRates, WhatIsRefusedForAnotherReasonCostsTheTenantNothing) {
  // Of a rate at which nothing comes back while this test runs.
  SharingBroker a(redis_->path(), "[default]\nrate = 1\nburst = 50\nmax_queued = 10\n", kPatient);
  SharingBroker b(redis_->path(), "[default]\nrate = 1\nburst = 50\n", kPatient);
  ASSERT_TRUE(a.AwaitUp(2) && b.AwaitUp(2)) << a.Logs() << b.Logs();
  RawClient client(a.watched().pool.client_url(), "a");
  ASSERT_TRUE(client.Greet());
  const TimePoint begin = SteadyClock::now();
  for (int i = 0; i < 40; ++i) ASSERT_TRUE(client.Submit("a" + std::to_string(i), "return 1"));
  a.watched().Await([](const MetricsPage& page) { return page.Value("skerry_jobs_submitted_total") == 40; });
  EXPECT_EQ(a.Accepted(), 10) << "its queue is full";
  // What is given back goes with the next question.
  std::this_thread::sleep_for(skerry::broker::RedisLink::kHeartbeat + Millis(500));
  Flood to_b(b, "b");
  for (int i = 0; i < 100; ++i) to_b.Submit();
  ASSERT_TRUE(to_b.AwaitAnswers());
  EXPECT_GE(to_b.accepted(), 40u);
  EXPECT_LE(static_cast<double>(to_b.accepted()), 41 + MillisBetween(begin, SteadyClock::now()) / 1'000);
}

TEST_F(SharedRates, ATenantWithoutARateAsksNobody) {
  SharingBroker a(redis_->path(), "[tenants.\"another\"]\nrate = 1\n");
  ASSERT_TRUE(a.AwaitUp(1)) << a.Logs();
  Flood to_a(a, "a");
  for (int i = 0; i < 100; ++i) to_a.Submit();
  EXPECT_TRUE(to_a.AwaitAnswers());
  EXPECT_EQ(to_a.accepted(), 100u);
  EXPECT_EQ(a.Page().Sum("skerry_rates_decided_total"), 0);
}

TEST_F(SharedRates, AClientsMessagesKeepTheirOrderWhileTheyWait) {
  SharingBroker a(redis_->path(), kTenants, kPatient);
  ASSERT_TRUE(a.AwaitUp(1)) << a.Logs();
  RawClient client(a.watched().pool.client_url(), "a");
  ASSERT_TRUE(client.Greet());
  constexpr int kJobs = 30;
  for (int i = 0; i < kJobs; ++i) {
    ASSERT_TRUE(client.Submit("a" + std::to_string(i), "return 1"));
    ASSERT_TRUE(client.Send(wire::Cancel{JobId("a" + std::to_string(i)), LeaseId()}));
  }
  std::map<std::string, int> finals;
  for (const TimePoint end = SteadyClock::now() + Millis(20'000); finals.size() < kJobs;) {
    ASSERT_LT(SteadyClock::now(), end) << "a CANCEL came before its job";
    const auto header = client.Read(Millis(100));
    if (!header) continue;
    if (const auto* ping = std::get_if<wire::Ping>(&*header)) client.Send(wire::Pong{ping->number});
    if (const auto* final = std::get_if<wire::Final>(&*header)) {
      EXPECT_EQ(final->code, Code::kCancelled);
      ++finals[final->id.str()];
    }
  }
  for (const auto& [id, count] : finals) EXPECT_EQ(count, 1) << id;
}

TEST_F(SharedRates, AClientThatGoesWhileItsJobsWaitFindsThemWhenItComesBack) {
  SharingBroker a(redis_->path(), kTenants, kPatient);
  ASSERT_TRUE(a.AwaitUp(1)) << a.Logs();
  redis_->Signal(SIGSTOP);
  const std::string url = a.watched().pool.client_url();
  {
    RawClient gone(url, "a");
    ASSERT_TRUE(gone.Greet());
    for (int i = 0; i < 5; ++i) ASSERT_TRUE(gone.Submit("a" + std::to_string(i), "return 1"));
    std::this_thread::sleep_for(Millis(200));
  }
  RawClient back(url, "a");
  ASSERT_TRUE(back.Greet());
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(back.Submit("a" + std::to_string(i), "return 1"));
  std::this_thread::sleep_for(Millis(200));
  redis_->Signal(SIGCONT);
  const auto all = [](const MetricsPage& page) { return page.Value("skerry_queued_jobs") == 5; };
  EXPECT_TRUE(all(a.watched().Await(all))) << "each once";
  std::this_thread::sleep_for(Millis(300));
  EXPECT_EQ(a.Accepted(), 5);
}

}  // namespace
}  // namespace skerry::testing
