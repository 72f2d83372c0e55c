// Events, host calls and answers between a job and its client, and clients that go and come back.
#include "broker/testing/core_harness.h"

namespace skerry::broker {
namespace {

using testing::ClientPeer;
using testing::CoreHarness;
using testing::WorkerPeer;

class Relay : public ::testing::Test {
 protected:
  Relay() {
    broker_.ConnectClient("c", "s");
    broker_.ConnectWorker("w", 2);
    broker_.Submit("c", "a");
    lease_ = broker_.LastLease("w");
    broker_.Clear();
  }
  void Event(const std::string& text, std::uint32_t attempt = 1) {
    wire::Event event;
    event.lease = lease_;
    event.attempt = attempt;
    broker_.Say(WorkerPeer("w"), event, {text});
  }
  void Call(std::uint32_t number) {
    broker_.Say(WorkerPeer("w"), wire::Call{JobId(), lease_, 1, number}, {"m", "{}"});
  }

  CoreHarness broker_;
  LeaseId lease_;
};

TEST_F(Relay, EventsAndCallsGoToTheClientByIdAndAnswersToTheWorkerByLease) {
  Event("hello");
  const auto events = broker_.ToClient<wire::Event>("c");
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].id.str(), "a");
  EXPECT_EQ(events[0].lease, LeaseId());
  EXPECT_EQ(broker_.PayloadOfLast(ClientPeer("c")), "hello");

  Call(3);
  const auto calls = broker_.ToClient<wire::Call>("c");
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_EQ(calls[0].id.str(), "a");
  EXPECT_EQ(calls[0].call, 3u);

  broker_.Say(ClientPeer("c"), wire::Answer{JobId("a"), LeaseId(), 1, 3, wire::AnswerKind::kValue}, {"42"});
  const auto answers = broker_.ToWorker<wire::Answer>("w");
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].lease, lease_);
  EXPECT_TRUE(answers[0].id.empty());
  EXPECT_EQ(broker_.PayloadOfLast(WorkerPeer("w")), "42");
}

TEST_F(Relay, AnAnswerToAJobThatHasEndedIsDropped) {
  broker_.FinishOk(WorkerPeer("w"), lease_);
  broker_.Say(ClientPeer("c"), wire::Answer{JobId("a"), LeaseId(), 1, 1, wire::AnswerKind::kValue}, {"42"});
  EXPECT_TRUE(broker_.ToWorker<wire::Answer>("w").empty());
}

TEST_F(Relay, AnAnswerToAnEarlierAttemptIsDropped) {
  Event("second run", 2);
  broker_.Say(ClientPeer("c"), wire::Answer{JobId("a"), LeaseId(), 1, 1, wire::AnswerKind::kValue}, {"42"});
  EXPECT_TRUE(broker_.ToWorker<wire::Answer>("w").empty());
}

TEST_F(Relay, AClientThatComesBackGetsWhatItMissedInOrderAndThenItsFinals) {
  broker_.Pass(Millis(10'000), {WorkerPeer("w")});  // silent: away
  broker_.Clear();
  Event("first");
  Event("second");
  broker_.FinishOk(WorkerPeer("w"), lease_, "7");
  EXPECT_TRUE(broker_.ToClient<wire::Event>("c").empty());
  broker_.ConnectClient("c2", "s");
  ASSERT_EQ(broker_.ToClient<wire::Welcome>("c2").size(), 1u);
  EXPECT_TRUE(broker_.ToClient<wire::Welcome>("c2")[0].resumed);
  std::vector<std::string> got;
  for (const Send& send : broker_.sends) {
    if (send.peer == ClientPeer("c2") && !send.payloads.empty()) got.emplace_back(send.payloads[0].bytes());
  }
  EXPECT_EQ(got, (std::vector<std::string>{"first", "second", "7"}));
}

TEST_F(Relay, AnUndeliverableEventIsKeptForTheClientsReturn) {
  Event("kept");
  broker_.Undeliver(ClientPeer("c"), broker_.ToClient<wire::Event>("c").at(0));
  broker_.Clear();
  Event("later");
  EXPECT_TRUE(broker_.ToClient<wire::Event>("c").empty());
  broker_.ConnectClient("c2", "s");
  EXPECT_EQ(broker_.ToClient<wire::Event>("c2").size(), 2u);
}

TEST_F(Relay, WhatTheClientHasSeenIsNotSentAgain) {
  for (const char* text : {"one", "two", "three"}) Event(text);
  wire::Hello hello;
  hello.session = SessionId("s");
  hello.seen = broker_.ToClient<wire::Event>("c").at(1).seq;
  broker_.Say(ClientPeer("c2"), hello);
  const auto again = broker_.ToClient<wire::Event>("c2");
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].seq, hello.seen + 1);
  EXPECT_EQ(broker_.PayloadOfLast(ClientPeer("c2")), "three");
}

TEST_F(Relay, AClientThatWasPutAwayButLivesIsAskedForItsHelloAndKeepsItsSession) {
  wire::Event event;
  event.id = JobId("a");
  broker_.core.OnUndeliverable({ClientPeer("c"), event, {}}, broker_.now);
  broker_.Clear();
  for (int i = 0; i < 60; ++i) {
    broker_.Pass(Millis(1'000), {WorkerPeer("w")});
    broker_.Say(ClientPeer("c"), wire::Ping{});
  }
  EXPECT_EQ(broker_.core.sessions(), 1u);
  EXPECT_EQ(broker_.ToClient<wire::Bye>("c").size(), 60u);
  broker_.ConnectClient("c", "s");
  EXPECT_TRUE(broker_.ToClient<wire::Welcome>("c").at(0).resumed);
}

TEST_F(Relay, EventsPastAnAbsentClientsBacklogAreDroppedAndCountedInTheFinal) {
  BrokerConfig config;
  config.max_backlog_bytes = Bytes::KiB(4);
  CoreHarness broker(config);
  broker.ConnectClient("c", "s");
  broker.ConnectWorker("w", 1);
  broker.Submit("c", "a");
  const LeaseId lease = broker.LastLease("w");
  broker.Pass(Millis(10'000), {WorkerPeer("w")});
  wire::Event event;
  event.lease = lease;
  for (int i = 0; i < 10; ++i) broker.Say(WorkerPeer("w"), event, {std::string(1024, 'x')});
  broker.FinishOk(WorkerPeer("w"), lease);
  broker.Clear();
  broker.ConnectClient("c2", "s");
  const auto kept = broker.ToClient<wire::Event>("c2").size();
  EXPECT_GT(kept, 0u);
  EXPECT_LT(kept, 5u);
  EXPECT_EQ(broker.OnlyFinal("c2").usage.dropped_events, 10 - kept);
}

TEST_F(Relay, AHostCallThatCannotWaitForItsClientIsRejectedAtOnce) {
  BrokerConfig config;
  config.max_backlog_bytes = Bytes(1);
  CoreHarness broker(config);
  broker.ConnectClient("c", "s");
  broker.ConnectWorker("w", 1);
  broker.Submit("c", "a");
  const LeaseId lease = broker.LastLease("w");
  broker.Pass(Millis(10'000), {WorkerPeer("w")});
  broker.Say(WorkerPeer("w"), wire::Call{JobId(), lease, 1, 1}, {"m", "{}"});
  const auto answers = broker.ToWorker<wire::Answer>("w");
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].kind, wire::AnswerKind::kError);
  EXPECT_EQ(answers[0].lease, lease);
}

TEST_F(Relay, AClientThatDoesNotComeBackHasItsJobsCancelledAndDropped) {
  broker_.Submit("c", "b");
  broker_.Submit("c", "queued");
  broker_.Pass(Millis(40'000), {WorkerPeer("w")});
  EXPECT_EQ(broker_.core.sessions(), 0u);
  EXPECT_EQ(broker_.core.queued(), 0u);
  EXPECT_EQ(broker_.ToWorker<wire::Cancel>("w").size(), 2u);
  broker_.Clear();
  broker_.ConnectClient("c2", "s");
  EXPECT_FALSE(broker_.ToClient<wire::Welcome>("c2").at(0).resumed);
  // The cancelled run still holds its slot until its worker says how it ended, and that is nobody's final any
  // more.
  EXPECT_EQ(broker_.core.running(), 2u);
  broker_.FinishOk(WorkerPeer("w"), lease_);
  EXPECT_EQ(broker_.core.running(), 1u);
  EXPECT_TRUE(broker_.ToClient<wire::Final>("c2").empty());
}

TEST_F(Relay, ByeDropsQueuedJobsAndCancelsRunningOnes) {
  broker_.Submit("c", "b");
  broker_.Submit("c", "queued");
  EXPECT_EQ(broker_.core.queued(), 1u);
  broker_.Clear();
  broker_.Say(ClientPeer("c"), wire::Bye{});
  EXPECT_EQ(broker_.core.queued(), 0u);
  EXPECT_EQ(broker_.ToWorker<wire::Cancel>("w").size(), 2u);
  EXPECT_EQ(broker_.core.sessions(), 0u);
  EXPECT_TRUE(broker_.ToClient<wire::Final>("c").empty());
}

TEST_F(Relay, OnlyTheFirstAnswerToACallThatIsOpenReachesTheWorker) {
  Call(1);
  broker_.Clear();
  const auto answer = [&](std::uint32_t call) {
    broker_.Say(ClientPeer("c"), wire::Answer{JobId("a"), LeaseId(), 1, call, wire::AnswerKind::kValue},
                {"42"});
  };
  answer(0);
  answer(2);
  for (int i = 0; i < 100; ++i) answer(1);
  EXPECT_EQ(broker_.ToWorker<wire::Answer>("w").size(), 1u);
  EXPECT_EQ(broker_.core.counters().stray_messages, 101u);
}

TEST_F(Relay, AnUnansweredCallIsToldAgainToAClientThatSubmitsItsJobAgain) {
  Call(1);
  Call(2);
  broker_.Say(ClientPeer("c"), wire::Answer{JobId("a"), LeaseId(), 1, 1, wire::AnswerKind::kValue}, {"42"});
  broker_.ConnectClient("c2",
                        "s");  // the same session on another connection, its calls lost with the old one
  broker_.Clear();
  broker_.Submit("c2", "a");
  const auto calls = broker_.ToClient<wire::Call>("c2");
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_EQ(calls[0].id.str(), "a");
  EXPECT_EQ(calls[0].call, 2u);
  EXPECT_EQ(broker_.PayloadOfLast(ClientPeer("c2")), "{}");
}

TEST_F(Relay, TheCallsOfARunThatIsOverAreNotToldAgain) {
  Call(1);
  Event("second run", 2);
  broker_.Clear();
  broker_.Submit("c", "a");
  EXPECT_TRUE(broker_.ToClient<wire::Call>("c").empty());
  EXPECT_EQ(broker_.ToClient<wire::Accepted>("c").size(), 1u);
}

}  // namespace
}  // namespace skerry::broker
