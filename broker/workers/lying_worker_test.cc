// Workers that lie are cut off; honest races are no lies.
#include <functional>

#include "broker/testing/core_harness.h"
#include "broker/workers/quarantine.h"

namespace skerry::broker {
namespace {

using testing::ClientPeer;
using testing::CoreHarness;
using testing::WorkerPeer;

class LyingWorker : public ::testing::Test {
 protected:
  LyingWorker() {
    broker_.ConnectClient("c", "s");
    broker_.ConnectWorker("w", 2);
    broker_.Submit("c", "a");
    lease_ = broker_.LastLease("w");
    broker_.Clear();
  }
  wire::Event Event(LeaseId lease, std::uint32_t attempt = 1) {
    wire::Event event;
    event.lease = lease;
    event.attempt = attempt;
    return event;
  }
  wire::Final Final(LeaseId lease, std::uint32_t attempt = 1) {
    wire::Final final;
    final.lease = lease;
    final.attempt = attempt;
    final.ok = true;
    return final;
  }
  void ExpectCutOff(const std::string& why, std::size_t others = 0) {
    const auto refusals = broker_.ToWorker<wire::Refuse>("w");
    ASSERT_EQ(refusals.size(), 1u) << why;
    EXPECT_NE(refusals[0].reason.find("cut off: "), std::string::npos);
    EXPECT_NE(refusals[0].reason.find(why), std::string::npos) << refusals[0].reason;
    EXPECT_EQ(broker_.core.workers(), others);
    EXPECT_EQ(broker_.core.counters().workers_cut_off, 1u);
  }

  CoreHarness broker_;
  LeaseId lease_;
};

TEST_F(LyingWorker, AFinalForALeaseThatWasNeverGiven) {
  broker_.Say(WorkerPeer("w"), Final(LeaseId(99'999)), {"1"});
  ExpectCutOff("final for lease 99999, which it does not hold");
  EXPECT_EQ(broker_.core.queued(), 1u) << "its honest job waits for another worker";
  EXPECT_TRUE(broker_.ToClient<wire::Final>("c").empty());
}

TEST_F(LyingWorker, ASecondFinal) {
  broker_.Say(WorkerPeer("w"), Final(lease_), {"1"});
  broker_.Say(WorkerPeer("w"), Final(lease_), {"2"});
  ExpectCutOff("which it does not hold");
  EXPECT_TRUE(broker_.OnlyFinal("c").ok);
}

TEST_F(LyingWorker, WhatItSaysAboutAnotherWorkersLeaseHarmsOnlyItself) {
  broker_.ConnectWorker("victim", 2);
  broker_.Submit("c", "b");
  const LeaseId victims = broker_.LastLease("victim");
  broker_.Clear();
  broker_.Say(WorkerPeer("w"), Event(victims), {"forged"});
  ExpectCutOff("event for lease", 1);
  EXPECT_TRUE(broker_.ToClient<wire::Event>("c").empty());
  broker_.FinishOk(WorkerPeer("victim"), victims);
  EXPECT_TRUE(broker_.OnlyFinal("c").ok);
}

TEST_F(LyingWorker, WrongNumbersOfPayloads) {
  const std::vector<std::pair<wire::Header, std::vector<std::string>>> wrong = {
      {Event(lease_), {}}, {Event(lease_), {"a", "b"}}, {wire::Call{JobId(), lease_, 1, 1}, {"method"}},
      {Final(lease_), {}}, {Final(lease_), {"1", "2"}},
  };
  for (const auto& [header, payloads] : wrong) {
    CoreHarness broker;
    broker.ConnectClient("c", "s");
    broker.ConnectWorker("w", 1);
    broker.Submit("c", "a");
    wire::Header message = header;
    std::visit(
        [&](auto& typed) {
          if constexpr (requires { typed.lease; }) typed.lease = broker.LastLease("w");
        },
        message);
    broker.Say(WorkerPeer("w"), message, payloads);
    EXPECT_EQ(broker.core.workers(), 0u) << payloads.size();
    EXPECT_EQ(broker.core.queued(), 1u);
  }
}

TEST_F(LyingWorker, AnAttemptThatGoesBack) {
  broker_.Say(WorkerPeer("w"), Event(lease_, 2), {"second run"});
  broker_.Say(WorkerPeer("w"), Event(lease_, 1), {"first run"});
  ExpectCutOff("of attempt 1 after attempt 2");
}

TEST_F(LyingWorker, AnAttemptPastWhatAWorkerRunsByItself) {
  broker_.Say(WorkerPeer("w"), Final(lease_, 0xFFFFFFFF), {"1"});
  ExpectCutOff("dispatched as attempt 1");
}

TEST_F(LyingWorker, AnAttemptOfZero) {
  broker_.Say(WorkerPeer("w"), Event(lease_, 0), {"x"});
  ExpectCutOff("of attempt 0");
}

TEST_F(LyingWorker, ACallThatGoesBack) {
  broker_.Say(WorkerPeer("w"), wire::Call{JobId(), lease_, 1, 2}, {"m", "1"});
  broker_.Say(WorkerPeer("w"), wire::Call{JobId(), lease_, 1, 2}, {"m", "1"});
  ExpectCutOff("call 2");
}

TEST_F(LyingWorker, MoreEventsThanTheJobsCapsLetThrough) {
  for (int i = 0; i < 2'000; ++i) broker_.Say(WorkerPeer("w"), Event(lease_), {"x"});
  EXPECT_EQ(broker_.core.workers(), 1u);
  broker_.Say(WorkerPeer("w"), Event(lease_), {"x"});
  ExpectCutOff("2001 events");
}

TEST_F(LyingWorker, AnAbsurdCredit) {
  broker_.Say(WorkerPeer("w"), wire::Credit{4'097, 4'096});
  ExpectCutOff("a credit of 4097 slots");
}

TEST_F(LyingWorker, AFloodOfCreditAndAFewOverALongTimeAreNotTheSame) {
  for (int i = 0; i < 6'000; ++i) {
    broker_.Say(WorkerPeer("w"), wire::Credit{2, 4'096});
    if (i % 2'000 == 1'999) broker_.Pass(Millis(1'000), {ClientPeer("c"), WorkerPeer("w")});
  }
  EXPECT_EQ(broker_.core.workers(), 1u);
  broker_.Clear();
  for (int i = 0; i < 4'001; ++i) broker_.Say(WorkerPeer("w"), wire::Credit{2, 4'096});
  ExpectCutOff("messages in a heartbeat");
}

TEST_F(LyingWorker, AFloodOfHellos) {
  for (int i = 0; i < 4'100; ++i) broker_.ConnectWorker("w", 2, 4096, "session of w", {lease_});
  EXPECT_GE(broker_.ToWorker<wire::Refuse>("w").size(), 1u);
  EXPECT_EQ(broker_.core.workers(), 0u);
}

TEST_F(LyingWorker, WhatIsNotAWorkersToSend) {
  broker_.Say(WorkerPeer("w"), wire::Submit{CoreHarness::Spec("x")}, {"code", ""});
  ExpectCutOff("a worker does not send submit");
}

TEST_F(LyingWorker, WhatIsNoMessage) {
  broker_.core.OnMalformed(WorkerPeer("w"), "final.ok is missing", broker_.now);
  broker_.Pass(Millis(1), {});
  ExpectCutOff("broken message: final.ok is missing");
}

TEST_F(LyingWorker, AMessageOfATypeThatIsNotKnownYetIsIgnoredAndCounted) {
  broker_.core.OnUnknownType(WorkerPeer("w"), broker_.now);
  broker_.core.OnUnknownType(ClientPeer("c"), broker_.now);
  EXPECT_TRUE(broker_.core.TakeSends().empty());
  EXPECT_EQ(broker_.core.workers(), 1u);
  EXPECT_EQ(broker_.core.counters().unknown_messages, 2u);
}

TEST_F(LyingWorker, ItsSessionIsRefusedForAWhileAndItsLinkIsNotAnswered) {
  broker_.Say(WorkerPeer("w"), Final(LeaseId(99)), {"1"});
  broker_.Clear();
  broker_.Say(WorkerPeer("w"), wire::Ping{});
  broker_.Say(WorkerPeer("w"), Final(LeaseId(98)), {"1"});
  EXPECT_TRUE(broker_.sends.empty()) << "a liar that goes on is not answered";
  broker_.ConnectWorker("w2", 2, 4096, "session of w");
  ASSERT_EQ(broker_.ToWorker<wire::Refuse>("w2").size(), 1u);
  EXPECT_NE(broker_.ToWorker<wire::Refuse>("w2")[0].reason.find("wait 60 s"), std::string::npos);
  broker_.ConnectWorker("honest", 1);
  EXPECT_EQ(broker_.ToWorker<wire::Dispatch>("honest").size(), 1u);
  broker_.Pass(Millis(60'000), {ClientPeer("c"), WorkerPeer("honest")});
  broker_.ConnectWorker("w3", 2, 4096, "session of w");
  EXPECT_EQ(broker_.ToWorker<wire::Welcome>("w3").size(), 1u);
}

TEST_F(LyingWorker, ThatGivesACodeThatOnlyTheBrokerOrNobodyGivesIsCutOff) {
  for (const Code code : {Code::kExpired, Code::kRateLimited, Code::kUnauthorized, Code::kCancelled}) {
    CoreHarness broker;
    broker.ConnectClient("c", "s");
    broker.ConnectWorker("w", 1);
    broker.Submit("c", "a");
    wire::Final final;
    final.lease = broker.LastLease("w");
    final.code = code;
    broker.Say(WorkerPeer("w"), final, {""});
    EXPECT_EQ(broker.core.counters().workers_cut_off, 1u) << NameOf(code);
    EXPECT_TRUE(broker.ToClient<wire::Final>("c").empty()) << "it runs elsewhere, or is LOST";
  }
}

TEST_F(LyingWorker, DoesNotSayWhenItsClientIsToComeAgain) {
  CoreHarness broker;
  broker.ConnectClient("c", "s");
  broker.ConnectWorker("w", 1);
  broker.Submit("c", "a");
  for (int i = 0; i < 20 && broker.ToClient<wire::Final>("c").empty(); ++i) {
    wire::Final final;
    final.lease = broker.LastLease("w");
    final.code = Code::kOverloaded;
    final.fault = Fault::kInfrastructure;
    final.retry_after_ms = 0xffffffff;
    broker.Say(WorkerPeer("w"), final, {""});
  }
  ASSERT_EQ(broker.ToClient<wire::Final>("c").size(), 1u);
  EXPECT_EQ(broker.OnlyFinal("c").retry_after_ms, BrokerConfig().retry_after.count());
}

TEST_F(LyingWorker, AFinalForALeaseThatTheBrokerTookAwayIsNoLie) {
  broker_.Pass(Millis(91'000), {ClientPeer("c"), WorkerPeer("w")});
  ASSERT_EQ(broker_.ToWorker<wire::Cancel>("w").size(), 1u);
  broker_.Clear();
  broker_.Say(WorkerPeer("w"), Event(lease_), {"late"});
  broker_.Say(WorkerPeer("w"), Final(lease_), {"1"});
  EXPECT_EQ(broker_.core.workers(), 1u);
  EXPECT_TRUE(broker_.ToClient<wire::Final>("c").empty());
  EXPECT_EQ(broker_.core.counters().late_messages, 2u);
}

TEST_F(LyingWorker, ACancelAndAFinalThatCrossAreNoLie) {
  broker_.Say(ClientPeer("c"), wire::Cancel{JobId("a"), LeaseId()});
  broker_.FinishOk(WorkerPeer("w"), lease_);
  EXPECT_TRUE(broker_.OnlyFinal("c").ok);
  EXPECT_EQ(broker_.core.workers(), 1u);
}

TEST(Quarantine, RemembersAtMostItsNumberOfLiars) {
  Quarantine quarantine(Millis(1'000));
  const TimePoint now;
  for (std::size_t i = 0; i < 2 * Quarantine::kMaxEntries; ++i) {
    quarantine.Add(SessionId("s" + std::to_string(i)), WorkerPeer(std::to_string(i)), "lied", now);
  }
  EXPECT_EQ(quarantine.size(), Quarantine::kMaxEntries);
  EXPECT_FALSE(quarantine.ReasonFor(SessionId("s0"), now));
  EXPECT_TRUE(quarantine.ReasonFor(SessionId("s2047"), now));
  EXPECT_FALSE(quarantine.ReasonFor(SessionId("s2047"), now + Millis(1'000)));
}

}  // namespace
}  // namespace skerry::broker
