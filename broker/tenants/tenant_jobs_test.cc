// What an operator lets a tenant have, through the whole core: admission, rates, turns, retention; and jobs
// that do not outlive their client's link.
#include "broker/testing/core_harness.h"

namespace skerry::broker {
namespace {

using testing::ClientPeer;
using testing::CoreHarness;
using testing::WorkerPeer;

class TenantJobs : public ::testing::Test {
 protected:
  TenantJobs() { broker_.ConnectClient("c", "s"); }
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
  /// The code that its client hears, if any.
  std::optional<Code> Submit(const JobSpec& spec) {
    const std::size_t before = broker_.ToClient<wire::Final>("c").size();
    broker_.Submit("c", spec);
    const auto finals = broker_.ToClient<wire::Final>("c");
    if (finals.size() == before) return std::nullopt;
    last_ = finals.back();
    return last_.code;
  }
  CoreHarness broker_;
  wire::Final last_;
  int next_ = 0;
};

TEST_F(TenantJobs, ATenantHasAsManyQueuedAsItMayAndNotOneMore) {
  Set("[tenants.t]\nmax_queued = 2\n");
  EXPECT_FALSE(Submit(Spec()));
  EXPECT_FALSE(Submit(Spec()));
  EXPECT_EQ(Submit(Spec()), Code::kOverloaded);
  EXPECT_EQ(last_.limit, "maxQueued");
  EXPECT_GT(last_.retry_after_ms, 0u);
  EXPECT_FALSE(Submit(Spec("another")));
  broker_.ConnectWorker("w", 1);
  EXPECT_FALSE(Submit(Spec())) << "one of them runs";
}

TEST_F(TenantJobs, ATenantRunsAsManyAsItMayAndOthersUseTheSlots) {
  Set("[tenants.t]\nmax_concurrent = 2\n");
  broker_.ConnectWorker("w", 4);
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(Submit(Spec()));
  EXPECT_EQ(broker_.core.running(), 2u);
  JobSpec fail_fast = Spec();
  fail_fast.admission = Admission::kFailFast;
  EXPECT_EQ(Submit(fail_fast), Code::kOverloaded);
  EXPECT_EQ(last_.limit, "maxConcurrent");
  fail_fast = Spec("another");
  fail_fast.admission = Admission::kFailFast;
  EXPECT_FALSE(Submit(fail_fast)) << "there is a slot, and nobody before it who may have it";
  EXPECT_EQ(broker_.core.running(), 3u);
  broker_.FinishOk(WorkerPeer("w"), broker_.ToWorker<wire::Dispatch>("w")[0].lease);
  EXPECT_EQ(broker_.core.running(), 3u) << "its next begins when one has ended";
  Set("[tenants.t]\nmax_concurrent = 3\n");
  EXPECT_FALSE(Submit(Spec()));
  EXPECT_EQ(broker_.core.running(), 4u) << "what is set anew holds at once";
}

TEST_F(TenantJobs, WeightsThatAreSetHoldForWhatWaits) {
  Set("[tenants.heavy]\nweight = 3\n");
  for (int i = 0; i < 8; ++i) {
    Submit(Spec("light"));
    Submit(Spec("heavy"));
  }
  broker_.ConnectWorker("w", 8, 8 * 256);
  int heavy = 0;
  for (const auto& dispatch : broker_.ToWorker<wire::Dispatch>("w"))
    heavy += dispatch.job.tenant.str() == "heavy";
  EXPECT_EQ(heavy, 6);
}

TEST_F(TenantJobs, ATenantSubmitsAtItsRateAndIsToldWhenToComeAgain) {
  Set("[tenants.t]\nrate = 10\nburst = 2\n");
  EXPECT_FALSE(Submit(Spec()));
  EXPECT_FALSE(Submit(Spec()));
  EXPECT_EQ(Submit(Spec()), Code::kRateLimited);
  EXPECT_EQ(last_.limit, "rate");
  EXPECT_EQ(last_.retry_after_ms, 100u);
  EXPECT_TRUE(last_.retryable);
  broker_.now += Millis(99);
  EXPECT_EQ(Submit(Spec()), Code::kRateLimited);
  broker_.now += Millis(1);
  EXPECT_FALSE(Submit(Spec()));
}

TEST_F(TenantJobs, AUsersRateIsItsOwnAndWhatIsRefusedForItCostsItsTenantNothing) {
  Set("[tenants.t]\nrate = 1\nburst = 3\nuser_rate = 1\nuser_burst = 1\n");
  EXPECT_FALSE(Submit(Spec("t", "u")));
  for (int i = 0; i < 5; ++i) EXPECT_EQ(Submit(Spec("t", "u")), Code::kRateLimited);
  EXPECT_EQ(last_.limit, "userRate");
  EXPECT_FALSE(Submit(Spec("t", "v")));
  EXPECT_FALSE(Submit(Spec("t"))) << "nobody's user";
  EXPECT_EQ(Submit(Spec("t")), Code::kRateLimited);
  EXPECT_EQ(last_.limit, "rate");
}

TEST_F(TenantJobs, WhatIsRefusedForAnotherReasonOrSubmittedAgainCountsInNoRate) {
  Set("[tenants.t]\nrate = 1\nburst = 1\n");
  JobSpec wrong = Spec();
  wrong.priority = 1'000;
  EXPECT_EQ(Submit(wrong), Code::kValidation);
  const JobSpec spec = Spec();
  EXPECT_FALSE(Submit(spec));
  EXPECT_FALSE(Submit(spec));
  EXPECT_EQ(broker_.core.counters().resubmitted, 1u);
}

TEST_F(TenantJobs, ATurnHasAsManyExecutionsAsItsJobSaysAndNotOneMore) {
  JobSpec spec = Spec();
  spec.turn = TurnId("1");
  spec.turn_executions = 2;
  const auto again = [&] {
    spec.id = Spec().id;
    return Submit(spec);
  };
  EXPECT_FALSE(again());
  EXPECT_FALSE(again());
  EXPECT_EQ(again(), Code::kRateLimited);
  EXPECT_EQ(last_.limit, "turnBudget");
  EXPECT_EQ(last_.retry_after_ms, 0u);
  EXPECT_FALSE(last_.retryable) << "waiting does not help";
  EXPECT_EQ(broker_.MessageOfLast("c"), "turn '1' has had its 2 executions");
  spec.turn = TurnId("2");
  EXPECT_FALSE(again());
}

TEST_F(TenantJobs, AnOperatorsBudgetHoldsForTurnsThatNameNoneAndForThoseThatNameMore) {
  Set("[tenants.t]\nturn_executions = 1\n");
  JobSpec spec = Spec();
  spec.turn = TurnId("1");
  EXPECT_FALSE(Submit(spec));
  spec.id = Spec().id;
  EXPECT_EQ(Submit(spec), Code::kRateLimited);
  spec.id = Spec().id;
  spec.turn_executions = 2;
  EXPECT_EQ(Submit(spec), Code::kValidation);
  EXPECT_EQ(broker_.MessageOfLast("c"), "turn.maxExecutions must be at most 1 for this tenant, got 2");
  EXPECT_FALSE(Submit(Spec())) << "a job of no turn counts in none";
}

TEST_F(TenantJobs, CeilingsLibrariesAndWasmAreTheTenantsOwn) {
  BrokerConfig config;
  config.allow_wasm = true;
  CoreHarness broker(config);
  broker.ConnectClient("c", "s");
  auto tenants = Tenants::Parse(
      "[tenants.t]\nwasm = false\nlibraries = [\"a\"]\n[tenants.t.ceilings]\ntimeoutMs = 100\n", "f");
  broker.core.SetTenants(*std::move(tenants), broker.now);
  const auto refused = [&](const std::string& tenant, const std::function<void(JobSpec&)>& ask) {
    JobSpec spec = Spec(tenant);
    ask(spec);
    broker.Clear();
    broker.Submit("c", spec);
    return broker.ToClient<wire::Final>("c").empty() ? "" : broker.MessageOfLast("c");
  };
  const auto timeout = [](std::uint64_t ms) {
    return [ms](JobSpec& spec) { spec.limits = {{"timeoutMs", ms}}; };
  };
  EXPECT_EQ(refused("t", timeout(100)), "");
  EXPECT_EQ(refused("t", timeout(101)), "timeoutMs 101 is over the ceiling of 100 of tenant 't'");
  EXPECT_EQ(refused("another", timeout(101)), "");
  EXPECT_EQ(refused("t", timeout(600'001)), "timeoutMs 600001 is over this pool's ceiling of 600000");
  EXPECT_EQ(refused("t", [](JobSpec& spec) { spec.wasm = true; }), "wasm is not allowed for tenant 't'");
  EXPECT_EQ(refused("another", [](JobSpec& spec) { spec.wasm = true; }), "");
  EXPECT_EQ(refused("t", [](JobSpec& spec) { spec.libraries = {"a"}; }), "");
  EXPECT_EQ(refused("t",
                    [](JobSpec& spec) {
                      spec.libraries = {"a", "b"};
                    }),
            "library 'b' is not allowed for tenant 't'");
  EXPECT_EQ(refused("another", [](JobSpec& spec) { spec.libraries = {"b"}; }), "");
}

TEST_F(TenantJobs, AJobThatIsNotToOutliveItsClientsLinkIsCancelledWithItQueuedOrRunning) {
  broker_.ConnectWorker("w", 1);
  JobSpec runs = Spec(), waits = Spec(), stays = Spec();
  runs.on_disconnect = waits.on_disconnect = OnDisconnect::kCancel;
  for (const JobSpec& spec : {runs, waits, stays}) broker_.Submit("c", spec);
  broker_.Clear();
  broker_.core.OnMalformed(ClientPeer("c"), "puts it away", broker_.now);
  broker_.Pass(Millis(1), {WorkerPeer("w")});
  ASSERT_EQ(broker_.ToWorker<wire::Cancel>("w").size(), 1u);
  EXPECT_EQ(broker_.core.queued(), 1u);
  wire::Final final;
  final.lease = broker_.ToWorker<wire::Cancel>("w")[0].lease;
  final.code = Code::kCancelled;
  broker_.Say(WorkerPeer("w"), final, {""});
  EXPECT_EQ(broker_.ToWorker<wire::Dispatch>("w").back().job.id, stays.id);
  broker_.Clear();
  broker_.ConnectClient("again", "s");
  const auto finals = broker_.ToClient<wire::Final>("again");
  ASSERT_EQ(finals.size(), 2u) << "who comes back after all is told";
  for (const wire::Final& told : finals) EXPECT_EQ(told.code, Code::kCancelled);
}

TEST_F(TenantJobs, ATenantsClientsAreKeptForAsLongAsItMay) {
  Set("[tenants.brief]\nretention_ms = 2000\n");
  for (const std::string tenant : {"brief", "long"}) {
    wire::Hello hello;
    hello.session = SessionId(tenant);
    hello.tenant = TenantId(tenant);
    broker_.Say(ClientPeer(tenant), hello);
    EXPECT_EQ(broker_.ToClient<wire::Welcome>(tenant).back().session_ttl_ms,
              tenant == "brief" ? 2'000u : 30'000u);
    broker_.core.OnMalformed(ClientPeer(tenant), "puts it away", broker_.now);
  }
  EXPECT_EQ(broker_.core.sessions(), 3u);
  broker_.Pass(Millis(1'000), {ClientPeer("c")});
  EXPECT_EQ(broker_.core.sessions(), 3u);
  broker_.Pass(Millis(2'000), {ClientPeer("c")});
  EXPECT_EQ(broker_.core.sessions(), 2u);
}

}  // namespace
}  // namespace skerry::broker
