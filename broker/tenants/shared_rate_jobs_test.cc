// Rates that brokers share, through the core: what is asked, what verdicts do, and the share of a broker that
// is on its own.
#include "broker/testing/core_harness.h"

namespace skerry::broker {
namespace {

using testing::ClientPeer;
using testing::CoreHarness;
using testing::WorkerPeer;

class SharedRateJobs : public ::testing::Test {
 protected:
  SharedRateJobs() {
    broker_.ConnectClient("c", "s");
    Set("[tenants.t]\nrate = 10\nburst = 4\n[tenants.u]\nuser_rate = 10\nuser_burst = 4\n");
    broker_.core.ShareRates(RateSharing::kShared, 2);
  }
  void Set(const std::string& text) {
    auto tenants = Tenants::Parse(text, "tenants.toml");
    ASSERT_TRUE(tenants) << tenants.error().message;
    broker_.core.SetTenants(*std::move(tenants), broker_.now);
  }
  JobSpec Spec(const std::string& tenant = "t", const std::string& user = "") {
    JobSpec spec = CoreHarness::Spec("job " + std::to_string(++next_));
    spec.tenant = TenantId(tenant);
    spec.user = UserId(user);
    return spec;
  }
  std::optional<RateAsk> AskFor(const JobSpec& spec, const std::string& link = "c") {
    return broker_.core.AskFor(ClientPeer(link), wire::Submit{spec});
  }
  VerdictUse Submit(const JobSpec& spec, const RateVerdict& verdict) {
    const auto use = broker_.core.OnRatedSubmit(ClientPeer("c"), wire::Submit{spec},
                                                {Payload("code"), Payload("1")}, verdict, broker_.now);
    broker_.Say(ClientPeer("c"), wire::Pong{});  // collects what was sent
    return use;
  }
  std::optional<Code> LastCode() {
    const auto finals = broker_.ToClient<wire::Final>("c");
    if (finals.empty()) return std::nullopt;
    return finals.back().code;
  }
  std::uint64_t Accepted() { return broker_.core.counters().accepted; }

  static inline const RateVerdict kYes{};
  CoreHarness broker_;
  int next_ = 0;
};

TEST_F(SharedRateJobs, AreAskedAboutWhereTheyHaveARateAndAreNew) {
  ASSERT_TRUE(AskFor(Spec()));
  EXPECT_EQ(AskFor(Spec())->tenant, "t");
  EXPECT_EQ(AskFor(Spec())->tenant_rate.per_second, 10u);
  EXPECT_EQ(AskFor(Spec("t", "x"))->user_rate.per_second, 0u);
  EXPECT_EQ(AskFor(Spec("u", "x"))->user, std::string("u\0x", 3));
  EXPECT_FALSE(AskFor(Spec("u"))) << "nobody's user";
  EXPECT_FALSE(AskFor(Spec("another")));
  EXPECT_FALSE(AskFor(Spec(), "a stranger"));
  EXPECT_FALSE(broker_.core.AskFor(ClientPeer("c"), wire::Ping{}));
  const JobSpec spec = Spec();
  Submit(spec, kYes);
  EXPECT_FALSE(AskFor(spec)) << "submitted again";
  broker_.core.OnMalformed(ClientPeer("c"), "puts it away", broker_.now);
  EXPECT_FALSE(AskFor(Spec()));
}

TEST_F(SharedRateJobs, InAnotherTenantsNameAskNothingOfThatOnesRate) {
  const Peer keyed{Side::kClient, "k", std::make_shared<const Identity>(Identity{Side::kClient, "t", "key"})};
  wire::Hello hello;
  hello.session = SessionId("k");
  broker_.Say(keyed, hello);
  EXPECT_TRUE(broker_.core.AskFor(keyed, wire::Submit{Spec("t")}));
  EXPECT_FALSE(broker_.core.AskFor(keyed, wire::Submit{Spec("u", "x")}));
}

TEST_F(SharedRateJobs, PassWhenRedisSaysSoHoweverManyAndAreRefusedWhenItDoes) {
  for (int i = 0; i < 20; ++i) EXPECT_EQ(Submit(Spec(), kYes), VerdictUse::kUsed);
  EXPECT_EQ(Accepted(), 20u);
  EXPECT_EQ(Submit(Spec(), {RateWait{RateOwner::kTenant, Millis(77)}}), VerdictUse::kUsed);
  const auto final = broker_.OnlyFinal("c");
  EXPECT_EQ(final.code, Code::kRateLimited);
  EXPECT_EQ(final.limit, "rate");
  EXPECT_EQ(final.retry_after_ms, 77u);
  EXPECT_TRUE(final.retryable);
  broker_.Clear();
  Submit(Spec("u", "x"), {RateWait{RateOwner::kUser, Millis(5)}});
  EXPECT_EQ(broker_.OnlyFinal("c").limit, "userRate");
  EXPECT_EQ(Accepted(), 20u);
}

TEST_F(SharedRateJobs, GiveBackAVerdictThatTheyDidNotNeed) {
  JobSpec wrong = Spec();
  wrong.priority = 1'000;
  EXPECT_EQ(Submit(wrong, kYes), VerdictUse::kUnused);
  EXPECT_EQ(LastCode(), Code::kValidation);
  const JobSpec spec = Spec();
  EXPECT_EQ(Submit(spec, kYes), VerdictUse::kUsed);
  EXPECT_EQ(Submit(spec, kYes), VerdictUse::kUnused) << "both were on their way when it was asked about";
  EXPECT_EQ(Accepted(), 1u);
  // An unused one is nobody's: without one of its own the next is this broker's share's.
  broker_.core.ShareRates(RateSharing::kLost, 2);
  broker_.Submit("c", Spec());
  EXPECT_EQ(broker_.core.counters().rated_by_share, 1u);
}

TEST_F(SharedRateJobs, OfALinkThatIsGoneByThenAreNotTakenAndCountForNobody) {
  broker_.core.OnMalformed(ClientPeer("c"), "puts it away", broker_.now);
  broker_.Clear();
  EXPECT_EQ(Submit(Spec(), kYes), VerdictUse::kUnused);
  EXPECT_FALSE(broker_.ToClient<wire::Bye>("c").empty()) << "it is to greet and submit again";
  EXPECT_EQ(Accepted(), 0u);
}

TEST_F(SharedRateJobs, ABrokerWithoutRedisEnforcesItsShare) {
  broker_.core.ShareRates(RateSharing::kLost, 2);
  for (int i = 0; i < 5; ++i) broker_.Submit("c", Spec());
  EXPECT_EQ(Accepted(), 2u) << "half of the burst";
  EXPECT_EQ(broker_.ToClient<wire::Final>("c").back().retry_after_ms, 200u) << "at half of the rate";
  for (int i = 0; i < 10; ++i) {
    broker_.now += Millis(100);
    broker_.Submit("c", Spec());
  }
  EXPECT_EQ(Accepted(), 7u);
}

TEST_F(SharedRateJobs, ALossGivesNobodyAnotherBurst) {
  for (int i = 0; i < 20; ++i) Submit(Spec(), kYes);
  broker_.core.ShareRates(RateSharing::kLost, 2);
  broker_.Submit("c", Spec());
  EXPECT_EQ(Accepted(), 20u);
  broker_.now += Millis(200);
  broker_.Submit("c", Spec());
  EXPECT_EQ(Accepted(), 21u) << "nor a debt: its share goes on at once";
}

TEST_F(SharedRateJobs, AreDecidedHereAloneWithoutARedis) {
  broker_.core.ShareRates(RateSharing::kAlone, 1);
  for (int i = 0; i < 5; ++i) broker_.Submit("c", Spec());
  EXPECT_EQ(Accepted(), 4u);
  EXPECT_EQ(broker_.core.counters().rated_by_share, 0u);
}

}  // namespace
}  // namespace skerry::broker
