// Workers that die, drain, come back, or have no room after all.
#include "broker/testing/core_harness.h"

namespace skerry::broker {
namespace {

using testing::ClientPeer;
using testing::CoreHarness;
using testing::WorkerPeer;

class LostWorker : public ::testing::Test {
 protected:
  void Start(Retry retry) {
    broker_.ConnectClient("c", "s");
    broker_.ConnectWorker("w", 1);
    JobSpec spec = CoreHarness::Spec("a");
    spec.retry = retry;
    broker_.Submit("c", spec);
    lease_ = broker_.LastLease("w");
  }
  void ExpectLost() {
    const wire::Final final = broker_.OnlyFinal("c");
    EXPECT_EQ(final.code, Code::kLost);
    EXPECT_EQ(final.fault, Fault::kInfrastructure);
    EXPECT_TRUE(final.started);
    EXPECT_TRUE(final.retryable);
  }

  CoreHarness broker_;
  LeaseId lease_;
};

TEST_F(LostWorker, ASafeJobRunsOnceMoreElsewhereWithTheNextAttempt) {
  Start(Retry::kSafe);
  broker_.ConnectWorker("w2", 1);
  broker_.Say(WorkerPeer("w"), wire::Bye{});
  const auto again = broker_.ToWorker<wire::Dispatch>("w2");
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].attempt, 2u);
  EXPECT_NE(again[0].lease, lease_);
  EXPECT_EQ(broker_.PayloadOfLast(WorkerPeer("w2")), "1");
  broker_.FinishOk(WorkerPeer("w2"), again[0].lease, "1", 2);
  EXPECT_EQ(broker_.OnlyFinal("c").attempt, 2u);
}

TEST_F(LostWorker, ASafeJobIsNotRunAThirdTime) {
  Start(Retry::kSafe);
  broker_.Say(WorkerPeer("w"), wire::Bye{});
  broker_.ConnectWorker("w2", 1);
  broker_.Say(WorkerPeer("w2"), wire::Bye{});
  ExpectLost();
}

TEST_F(LostWorker, ASafeJobThatHasCalledItsHostIsLost) {
  Start(Retry::kSafe);
  broker_.Say(WorkerPeer("w"), wire::Call{JobId(), lease_, 1, 1}, {"m", "{}"});
  broker_.Say(WorkerPeer("w"), wire::Bye{});
  ExpectLost();
}

TEST_F(LostWorker, AJobThatMayNeverRunTwiceIsLost) {
  Start(Retry::kNever);
  broker_.ConnectWorker("w2", 1);
  broker_.Say(WorkerPeer("w"), wire::Bye{});
  ExpectLost();
  EXPECT_TRUE(broker_.ToWorker<wire::Dispatch>("w2").empty());
}

TEST_F(LostWorker, AJobThatMayAlwaysRunAgainDoesAfterAHostCallTooButNotForEver) {
  Start(Retry::kAlways);
  broker_.Say(WorkerPeer("w"), wire::Call{JobId(), lease_, 1, 1}, {"m", "{}"});
  broker_.Say(WorkerPeer("w"), wire::Bye{});
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(broker_.ToClient<wire::Final>("c").empty());
    const std::string name = "w" + std::to_string(i);
    broker_.ConnectWorker(name, 1);
    ASSERT_EQ(broker_.ToWorker<wire::Dispatch>(name).size(), 1u) << i;
    broker_.Say(WorkerPeer(name), wire::Bye{});
  }
  ExpectLost();
}

TEST_F(LostWorker, SilenceIsDeath) {
  Start(Retry::kNever);
  broker_.Pass(Millis(10'000), {ClientPeer("c")});
  ExpectLost();
  EXPECT_EQ(broker_.core.workers(), 0u);
}

TEST_F(LostWorker, ADispatchThatCouldNotBeDeliveredWasNoAttempt) {
  Start(Retry::kNever);
  wire::Dispatch dispatch;
  dispatch.lease = lease_;
  broker_.Undeliver(WorkerPeer("w"), dispatch);
  EXPECT_EQ(broker_.core.running(), 0u);
  EXPECT_EQ(broker_.core.queued(), 1u);
  broker_.ConnectWorker("w2", 1);
  EXPECT_EQ(broker_.ToWorker<wire::Dispatch>("w2").at(0).attempt, 1u);
}

TEST_F(LostWorker, AnUnreachableWorkerHasItsTimeToComeBackAndIsDeadAfterIt) {
  Start(Retry::kNever);
  broker_.Undeliver(WorkerPeer("w"), wire::Ping{});
  broker_.Pass(Millis(1'900), {ClientPeer("c")});
  EXPECT_TRUE(broker_.ToClient<wire::Final>("c").empty());
  broker_.Pass(Millis(1'100), {ClientPeer("c")});
  ExpectLost();
  EXPECT_EQ(broker_.core.workers(), 0u);
}

TEST_F(LostWorker, AnUnreachableWorkerGetsNothingAndComesBackWithItsLeases) {
  Start(Retry::kNever);
  broker_.Undeliver(WorkerPeer("w"), wire::Ping{});
  broker_.Clear();
  broker_.Submit("c", "b");
  broker_.Say(ClientPeer("c"), wire::Cancel{JobId("a"), LeaseId()});
  broker_.Pass(Millis(1'000), {ClientPeer("c")});
  for (const Send& send : broker_.sends) EXPECT_NE(send.peer, WorkerPeer("w"));
  broker_.ConnectWorker("w2", 2, 4096, "session of w", {lease_});
  EXPECT_TRUE(broker_.ToWorker<wire::Welcome>("w2").at(0).resumed);
  EXPECT_EQ(broker_.ToWorker<wire::Cancel>("w2").at(0).lease, lease_) << "the CANCEL is said again";
  EXPECT_EQ(broker_.ToWorker<wire::Dispatch>("w2").size(), 1u);
  broker_.FinishOk(WorkerPeer("w2"), lease_);
  EXPECT_TRUE(broker_.OnlyFinal("c").ok);
}

TEST_F(LostWorker, AWorkerTakenForUnreachableThatSpeaksIsAskedForItsHello) {
  Start(Retry::kNever);
  broker_.Undeliver(WorkerPeer("w"), wire::Ping{});
  broker_.Clear();
  broker_.FinishOk(WorkerPeer("w"), lease_);
  EXPECT_EQ(broker_.ToWorker<wire::Bye>("w").size(), 1u);
  EXPECT_TRUE(broker_.ToClient<wire::Final>("c").empty());
}

TEST_F(LostWorker, ALeaseThatNeverReachedItsWorkerWaitsAgainWithoutAnAttempt) {
  Start(Retry::kNever);
  broker_.ConnectWorker("w again", 1, 4096, "session of w");  // names no lease
  const auto again = broker_.ToWorker<wire::Dispatch>("w again");
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].attempt, 1u);
  EXPECT_NE(again[0].lease, lease_);
}

TEST_F(LostWorker, ALeaseThatItsWorkerSpokeOfAndDoesNotNameIsLost) {
  Start(Retry::kNever);
  wire::Event event;
  event.lease = lease_;
  broker_.Say(WorkerPeer("w"), event, {"hello"});
  broker_.ConnectWorker("w again", 1, 4096, "session of w");
  ExpectLost();
}

TEST_F(LostWorker, ALeaseThatWorkerNamesInVainIsCancelledAndWhatStillComesForItIsNoLie) {
  Start(Retry::kNever);
  broker_.FinishOk(WorkerPeer("w"), lease_);  // its worker does not know that this has arrived
  broker_.ConnectWorker("w again", 1, 4096, "session of w", {lease_, LeaseId(777)});
  EXPECT_EQ(broker_.ToWorker<wire::Cancel>("w again").size(), 2u);
  broker_.FinishOk(WorkerPeer("w again"), lease_);
  EXPECT_EQ(broker_.core.workers(), 1u);
  EXPECT_EQ(broker_.core.counters().late_messages, 1u);
  EXPECT_TRUE(broker_.OnlyFinal("c").ok);
}

TEST_F(LostWorker, AWorkerThatNamesNothingForEverDoesNotKeepAJobForEver) {
  Start(Retry::kNever);
  for (int i = 0; i < 10; ++i) broker_.ConnectWorker("w" + std::to_string(i), 1, 4096, "session of w");
  ExpectLost();
}

TEST_F(LostWorker, WhatComesTwiceAfterABrokenLinkIsTakenOnce) {
  Start(Retry::kSafe);
  wire::Event event;
  event.lease = lease_;
  event.seq = 1;
  broker_.Say(WorkerPeer("w"), event, {"once"});
  wire::Final final;
  final.lease = lease_;
  final.ok = true;
  final.seq = 2;
  broker_.Say(WorkerPeer("w"), final, {"1"});
  broker_.ConnectWorker("w again", 1, 4096, "session of w", {lease_});
  broker_.Say(WorkerPeer("w again"), event, {"once"});
  broker_.Say(WorkerPeer("w again"), final, {"1"});
  EXPECT_EQ(broker_.ToClient<wire::Event>("c").size(), 1u);
  EXPECT_TRUE(broker_.OnlyFinal("c").ok);
  EXPECT_EQ(broker_.core.counters().repeated_messages, 2u);
  EXPECT_EQ(broker_.core.workers(), 1u);
}

TEST_F(LostWorker, AnswersThatMayNotHaveArrivedAreSentAgain) {
  Start(Retry::kSafe);
  broker_.Say(WorkerPeer("w"), wire::Call{JobId(), lease_, 1, 1}, {"m", "{}"});
  const auto answer = [&](std::uint32_t call) {
    broker_.Say(ClientPeer("c"), wire::Answer{JobId("a"), LeaseId(), 1, call, wire::AnswerKind::kValue},
                {"42"});
  };
  answer(1);
  broker_.Pass(Millis(2'000), {ClientPeer("c"), WorkerPeer("w")});  // a PING behind it, and its PONG
  broker_.Say(WorkerPeer("w"), wire::Call{JobId(), lease_, 1, 2}, {"m", "{}"});
  answer(2);
  broker_.ConnectWorker("w again", 1, 4096, "session of w", {lease_});
  const auto answers = broker_.ToWorker<wire::Answer>("w again");
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].call, 2u);
}

TEST_F(LostWorker, AnUnknownWorkerIsToldThatItsLeasesAreNotItsOwn) {
  broker_.ConnectWorker("w", 1, 4096, "from before", {LeaseId(5)});
  EXPECT_FALSE(broker_.ToWorker<wire::Welcome>("w").at(0).resumed);
  EXPECT_EQ(broker_.core.running(), 0u);
}

TEST_F(LostWorker, ACancelledJobWhoseWorkerDiesIsCancelledNotRunAgain) {
  Start(Retry::kAlways);
  broker_.Say(ClientPeer("c"), wire::Cancel{JobId("a"), LeaseId()});
  broker_.ConnectWorker("w2", 1);
  broker_.Say(WorkerPeer("w"), wire::Bye{});
  EXPECT_EQ(broker_.OnlyFinal("c").code, Code::kCancelled);
  EXPECT_TRUE(broker_.ToWorker<wire::Dispatch>("w2").empty());
}

TEST_F(LostWorker, AWorkerThatReconnectsUnderItsSessionKeepsItsLeases) {
  Start(Retry::kNever);
  broker_.ConnectWorker("w again", 1, 4096, "session of w", {lease_});
  EXPECT_EQ(broker_.core.workers(), 1u);
  EXPECT_TRUE(broker_.ToClient<wire::Final>("c").empty());
  broker_.FinishOk(WorkerPeer("w again"), lease_);
  EXPECT_TRUE(broker_.OnlyFinal("c").ok);
}

TEST_F(LostWorker, ADrainingWorkerGetsNothingNewAndFinishesWhatItHas) {
  Start(Retry::kSafe);
  broker_.Say(WorkerPeer("w"), wire::Drain{});
  broker_.FinishOk(WorkerPeer("w"), lease_);
  EXPECT_TRUE(broker_.OnlyFinal("c").ok);
  broker_.Submit("c", "b");
  EXPECT_EQ(broker_.ToWorker<wire::Dispatch>("w").size(), 1u);
  EXPECT_EQ(broker_.core.queued(), 1u);
}

TEST_F(LostWorker, AWorkerWithoutRoomAfterAllGivesTheJobBackAFewTimes) {
  Start(Retry::kNever);
  wire::Final full;
  full.code = Code::kOverloaded;
  full.fault = Fault::kInfrastructure;
  for (int i = 0; i < 5; ++i) {
    full.lease = broker_.LastLease("w");
    broker_.Say(WorkerPeer("w"), full, {""});
    EXPECT_TRUE(broker_.ToClient<wire::Final>("c").empty()) << i;
  }
  EXPECT_EQ(broker_.ToWorker<wire::Dispatch>("w").size(), 6u);
  full.lease = broker_.LastLease("w");
  broker_.Say(WorkerPeer("w"), full, {""});
  EXPECT_EQ(broker_.OnlyFinal("c").code, Code::kOverloaded);
}

TEST_F(LostWorker, AJobThatItsWorkerLostRunsAgainWhereRetryAllows) {
  Start(Retry::kSafe);
  wire::Final lost;
  lost.lease = lease_;
  lost.code = Code::kLost;
  lost.fault = Fault::kInfrastructure;
  broker_.Say(WorkerPeer("w"), lost, {""});
  const auto dispatches = broker_.ToWorker<wire::Dispatch>("w");
  ASSERT_EQ(dispatches.size(), 2u);
  EXPECT_EQ(dispatches[1].attempt, 2u);
  lost.lease = dispatches[1].lease;
  lost.attempt = 2;
  broker_.Say(WorkerPeer("w"), lost, {""});
  EXPECT_EQ(broker_.OnlyFinal("c").code, Code::kLost);
}

TEST_F(LostWorker, ASafeJobThatItsWorkerRanTwiceIsNotRunAThirdTime) {
  Start(Retry::kSafe);
  wire::Final lost;
  lost.lease = lease_;
  lost.attempt = 2;
  lost.code = Code::kLost;
  lost.fault = Fault::kInfrastructure;
  lost.started = true;
  lost.retryable = true;
  broker_.Say(WorkerPeer("w"), lost, {""});
  ExpectLost();
}

TEST_F(LostWorker, ALeaseLongPastItsLimitsIsTakenFromAWorkerThatStillTalks) {
  Start(Retry::kNever);
  // Two runs of timeoutMs (30 s) and 30 s of grace.
  broker_.Pass(Millis(89'000), {ClientPeer("c"), WorkerPeer("w")});
  EXPECT_TRUE(broker_.ToClient<wire::Final>("c").empty());
  broker_.Pass(Millis(2'000), {ClientPeer("c"), WorkerPeer("w")});
  ExpectLost();
  EXPECT_EQ(broker_.ToWorker<wire::Cancel>("w").size(), 1u);
  EXPECT_EQ(broker_.core.running(), 0u);
}

TEST_F(LostWorker, JobsOfALostWorkerRunAgainInTheirOrderBeforeThoseThatWaited) {
  broker_.ConnectClient("c", "s");
  broker_.ConnectWorker("w", 2);
  for (const char* id : {"a", "b", "waiting"}) broker_.Submit("c", id);
  broker_.Say(WorkerPeer("w"), wire::Bye{});
  broker_.ConnectWorker("w2", 3);
  std::vector<std::string> order;
  for (const auto& dispatch : broker_.ToWorker<wire::Dispatch>("w2")) order.push_back(dispatch.job.id.str());
  EXPECT_EQ(order, (std::vector<std::string>{"a", "b", "waiting"}));
}

}  // namespace
}  // namespace skerry::broker
