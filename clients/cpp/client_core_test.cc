#include "clients/cpp/client_core.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "clients/cpp/testing/core_harness.h"
#include "common/hash.h"

namespace skerry::client {
namespace {

class SmallCore : public Core {
 protected:
  SmallCore() : Core(Options()) {}
  static ClientOptions Options() {
    ClientOptions options;
    options.max_in_flight = 2;
    options.max_in_flight_bytes = Bytes(100);
    return options;
  }
};

TEST_F(Core, SaysHelloUntilWelcomedAndSubmitsWhatWaitedInOrder) {
  Submit("b");
  Submit("a");
  core_.OnTick(now_);
  Pass(Millis(500));
  EXPECT_EQ(Sent<wire::Hello>().size(), 2u);
  EXPECT_TRUE(Sent<wire::Submit>().empty());
  Welcome();
  const auto submits = Sent<wire::Submit>();
  ASSERT_EQ(submits.size(), 2u);
  EXPECT_EQ(submits[0].job.id.str(), "b");
  EXPECT_EQ(submits[1].job.id.str(), "a");
  EXPECT_EQ(submits[0].job.code_hash, Sha256("code"));
}

TEST_F(Core, GivesUpAfterTheConnectTimeout) {
  Pass(Millis(4'999));
  EXPECT_EQ(core_.link(), LinkState::kConnecting);
  Pass(Millis(1));
  EXPECT_EQ(core_.link(), LinkState::kFailed);
  const auto events = Events();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(std::get<LinkFailed>(events[0]).error.kind, ErrorKind::kUnavailable);
  JobRequest request = Request("a");
  EXPECT_FALSE(core_.Submit(request, now_));
}

TEST_F(Core, ARefusalIsFinalAndSaysWhy) {
  core_.OnMessage(wire::Refuse{"too new"}, {}, now_);
  EXPECT_EQ(core_.link(), LinkState::kFailed);
  EXPECT_NE(core_.failure().message.find("too new"), std::string::npos);
}

TEST_F(Core, AFinalIsGivenOutOnceAndAcknowledgedOnceItsCallerHasDealtWithIt) {
  Welcome();
  Submit("a");
  Final("a");
  Final("a");
  const auto events = Events();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(std::get<JobFinal>(events[0]).outcome.value, "7");
  EXPECT_EQ(core_.unfinished(), 0u);
  EXPECT_TRUE(Sent<wire::Ack>().empty());
  core_.Acknowledge(JobId("a"));
  core_.Acknowledge(JobId("a"));
  ASSERT_EQ(Sent<wire::Ack>().size(), 1u);
  EXPECT_EQ(Sent<wire::Ack>()[0].ids, std::vector<std::string>{"a"});
}

TEST_F(Core, ABrokerThatDoesNotKnowSeedsNeverGetsAJobThatHasOne) {
  JobRequest seeded = Request("a");
  seeded.spec.seed = 0;
  Submit(std::move(seeded));
  Submit("plain");
  core_.OnTick(now_);
  const auto offered = Sent<wire::Hello>().back().capabilities;
  EXPECT_NE(std::find(offered.begin(), offered.end(), "reproducible"), offered.end());
  capabilities_ = {"wasm"};
  Welcome();
  ASSERT_EQ(Sent<wire::Submit>().size(), 1u);
  EXPECT_EQ(Sent<wire::Submit>()[0].job.id.str(), "plain");
  const auto events = Events();
  ASSERT_EQ(events.size(), 1u);
  const JobError& error = std::get<JobFinal>(events[0]).outcome.error.value();
  EXPECT_EQ(error.code, Code::kValidation);
  EXPECT_NE(error.message.find("upgrade it"), std::string::npos) << error.message;
  EXPECT_FALSE(error.started);
}

TEST_F(Core, ASeedOrAnInstantPastItsBoundIsTheCallersMistake) {
  JobRequest request = Request("a");
  request.spec.seed = kMaxSeed + 1;
  EXPECT_EQ(core_.Submit(request, now_).error().kind, ErrorKind::kInvalid);
  request.spec.seed = kMaxSeed;
  request.spec.clock_ms = kMaxClockMs + 1;
  EXPECT_EQ(core_.Submit(request, now_).error().kind, ErrorKind::kInvalid);
  request.spec.clock_ms = kMaxClockMs;
  EXPECT_TRUE(core_.Submit(request, now_));
}

TEST_F(Core, AReceiptComesWithItsFinal) {
  Welcome();
  Submit("a");
  wire::Final final;
  final.id = JobId("a");
  final.ok = true;
  core_.OnMessage(final, {"7", "{\"seed\":1}"}, now_);
  const auto events = Events();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(std::get<JobFinal>(events[0]).outcome.value, "7");
  EXPECT_EQ(std::get<JobFinal>(events[0]).outcome.receipt, "{\"seed\":1}");
}

TEST_F(Core, ThousandsOfAcksAreCutIntoMessagesThatFitAHeader) {
  Welcome();
  for (int i = 0; i < 300; ++i) Final("unknown" + std::to_string(i));
  const auto acks = Sent<wire::Ack>();
  ASSERT_EQ(acks.size(), 3u);
  EXPECT_EQ(acks[0].ids.size() + acks[1].ids.size() + acks[2].ids.size(), 300u);
}

TEST_F(SmallCore, IsFullAtMaxInFlightAndTheRefusedRequestIsLeftAsItWas) {
  Welcome();
  EXPECT_EQ(Submit("a"), SubmitResult::kTaken);
  EXPECT_EQ(Submit("b"), SubmitResult::kTaken);
  JobRequest third = Request("x");
  EXPECT_EQ(*core_.Submit(third, now_), SubmitResult::kFull);
  EXPECT_EQ(third.code, "code");
  Final("a");
  EXPECT_EQ(*core_.Submit(third, now_), SubmitResult::kTaken);
}

TEST_F(SmallCore, IsFullAtItsBytesButTakesOneJobOfAnySize) {
  Welcome();
  EXPECT_EQ(Submit(Request("big", std::string(5'000, 'x'))), SubmitResult::kTaken);
  EXPECT_EQ(Submit("a"), SubmitResult::kFull);
}

TEST_F(Core, TheBrokersCreditBoundsJobsInFlight) {
  Welcome(false, 1);
  EXPECT_EQ(Submit("a"), SubmitResult::kTaken);
  EXPECT_EQ(Submit("b"), SubmitResult::kFull);
}

TEST_F(Core, AnIdThatIsUnfinishedOrTooLongIsAnError) {
  Submit("a");
  JobRequest again = Request("a");
  EXPECT_EQ(core_.Submit(again, now_).error().kind, ErrorKind::kInvalid);
  JobRequest longer = Request(std::string(kMaxIdBytes + 1, 'x'));
  EXPECT_EQ(core_.Submit(longer, now_).error().kind, ErrorKind::kInvalid);
  JobRequest nameless = Request("");
  EXPECT_EQ(core_.Submit(nameless, now_).error().kind, ErrorKind::kInvalid);
}

TEST_F(Core, OverloadedWithRetryAfterIsWaitedOutForAJobThatQueues) {
  Welcome();
  Submit("a");
  Clear();
  Final("a", false, Code::kOverloaded, 250);
  EXPECT_TRUE(Events().empty());
  Pass(Millis(249));
  EXPECT_TRUE(Sent<wire::Submit>().empty());
  Pass(Millis(1));
  EXPECT_EQ(Sent<wire::Submit>().size(), 1u);
  // The first answer must be forgotten by the broker before the job comes again.
  EXPECT_EQ(Sent<wire::Ack>().size(), 1u);
  Final("a");
  EXPECT_EQ(Events().size(), 1u);
}

TEST_F(Core, OverloadedIsReportedForFailFastAndWhereWaitingDoesNotHelp) {
  Welcome();
  JobRequest fast = Request("fast");
  fast.spec.admission = Admission::kFailFast;
  Submit(fast);
  Submit("never");
  Final("fast", false, Code::kOverloaded, 250);
  Final("never", false, Code::kOverloaded, 0);
  EXPECT_EQ(Events().size(), 2u);
}

TEST_F(Core, WaitingOutOverloadCountsAgainstTheDeadline) {
  Welcome();
  JobRequest request = Request("a");
  request.spec.deadline_ms = 400;
  Submit(request);
  Final("a", false, Code::kOverloaded, 250);
  Pass(Millis(250));
  ASSERT_EQ(Sent<wire::Submit>().size(), 2u);
  EXPECT_EQ(Sent<wire::Submit>()[1].job.deadline_ms, 150u);
  Final("a", false, Code::kOverloaded, 250);
  const auto events = Events();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(std::get<JobFinal>(events[0]).outcome.error->code, Code::kExpired);
}

TEST_F(Core, AByeFromTheBrokerMeansHelloAgainAndEveryUnfinishedJobAgain) {
  Welcome();
  Submit("a");
  Submit("b");
  Final("a");
  const auto generation = core_.generation();
  core_.OnMessage(wire::Bye{}, {}, now_);
  EXPECT_GT(core_.generation(), generation);
  Clear();
  core_.OnTick(now_);
  EXPECT_EQ(Sent<wire::Hello>().size(), 1u);
  Welcome(true);
  const auto submits = Sent<wire::Submit>();
  ASSERT_EQ(submits.size(), 1u);
  EXPECT_EQ(submits[0].job.id.str(), "b");
}

TEST_F(Core, ASilentBrokerIsLookedForAgainAndGivenUpInTheEnd) {
  Welcome();
  Pass(Millis(9'999));
  EXPECT_EQ(core_.link(), LinkState::kLinked);
  Pass(Millis(1));
  EXPECT_EQ(core_.link(), LinkState::kConnecting);
  Pass(Millis(59'999));
  EXPECT_EQ(core_.link(), LinkState::kConnecting);
  Pass(Millis(1));
  EXPECT_EQ(core_.link(), LinkState::kFailed);
}

TEST_F(Core, AClientThatDidNotListenDoesNotBlameTheBroker) {
  Welcome();
  now_ += Millis(20'000);
  core_.NotListening(now_);
  core_.OnTick(now_);
  EXPECT_EQ(core_.link(), LinkState::kLinked);
}

TEST_F(Core, ASecondAttemptVoidsTheEventsOfTheFirst) {
  Welcome();
  Submit("a");
  Event("a", 1, "one");
  Event("a", 2, "one again");
  Event("a", 1, "late");
  const auto events = Events();
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(std::get<JobNotice>(events[0]).payload, "one");
  EXPECT_EQ(std::get<JobRestarted>(events[1]).id.str(), "a");
  EXPECT_EQ(std::get<JobNotice>(events[2]).payload, "one again");
}

TEST_F(Core, ABrokerThatForgotTheSessionRestartsJobsThatHadSpoken) {
  Welcome();
  Submit("spoke");
  Submit("silent");
  Event("spoke", 1, "hi");
  Events();
  core_.OnMessage(wire::Bye{}, {}, now_);
  Welcome(false);
  const auto events = Events();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(std::get<JobRestarted>(events[0]).id.str(), "spoke");
}

TEST_F(Core, ABrokerThatKeptTheSessionRestartsNothing) {
  Welcome();
  Submit("a");
  Event("a", 1, "hi");
  Events();
  core_.OnMessage(wire::Bye{}, {}, now_);
  Welcome(true);
  EXPECT_TRUE(Events().empty());
}

TEST_F(Core, WhatComesTwiceIsTakenOnceAndAFinalIsAcknowledgedEachTime) {
  Welcome();
  Submit("a");
  wire::Event event;
  event.id = JobId("a");
  event.seq = 5;
  core_.OnMessage(event, {"hi"}, now_);
  core_.OnMessage(event, {"hi"}, now_);
  wire::Final final;
  final.id = JobId("a");
  final.ok = true;
  final.seq = 6;
  core_.OnMessage(final, {"1"}, now_);
  EXPECT_EQ(Events().size(), 2u);
  Sent<wire::Ack>();
  Clear();
  Submit("a");  // the same id again, as a new job
  core_.OnMessage(final, {"1"}, now_);
  EXPECT_TRUE(Events().empty()) << "an old final is not the new job's";
  EXPECT_EQ(Sent<wire::Ack>().size(), 1u);
}

TEST_F(Core, ItsHelloSaysWhatItHasSeenAndAnotherLifeOfTheSessionCountsAnew) {
  wire::Welcome welcome;
  welcome.credit = 10;
  welcome.epoch = 77;
  core_.OnMessage(welcome, {}, now_);
  Submit("a");
  wire::Event event;
  event.id = JobId("a");
  event.seq = 5;
  core_.OnMessage(event, {"hi"}, now_);
  core_.OnMessage(wire::Bye{}, {}, now_);
  Clear();
  core_.OnTick(now_);
  ASSERT_EQ(Sent<wire::Hello>().size(), 1u);
  EXPECT_EQ(Sent<wire::Hello>()[0].epoch, 77u);
  EXPECT_EQ(Sent<wire::Hello>()[0].seen, 5u);
  welcome.epoch = 78;
  core_.OnMessage(welcome, {}, now_);
  Events();
  event.seq = 1;
  core_.OnMessage(event, {"again"}, now_);
  EXPECT_EQ(Events().size(), 1u);
}

TEST_F(Core, AVersionThatIsNotSpokenHereFailsTheLink) {
  Pass(Millis(0));
  wire::Welcome welcome;
  welcome.version = 99;
  core_.OnMessage(welcome, {}, now_);
  EXPECT_EQ(core_.link(), LinkState::kFailed);
  EXPECT_NE(core_.failure().message.find("wire version 99"), std::string::npos) << core_.failure().message;
}

TEST_F(Core, WhatARefusalSaysIsFitForATerminal) {
  Pass(Millis(0));
  core_.OnMessage(wire::Refuse{"no\x1b[2J\nforged line"}, {}, now_);
  EXPECT_EQ(core_.failure().message.find('\x1b'), std::string::npos);
  EXPECT_EQ(core_.failure().message.find('\n'), std::string::npos);
}

TEST_F(Core, ABrokerThatSendsItAwayAgainAndAgainIsNotGreetedAtOnce) {
  Welcome();
  core_.OnMessage(wire::Bye{}, {}, now_);
  Welcome(true);
  Clear();
  core_.OnMessage(wire::Bye{}, {}, now_);
  Pass(Millis(0));
  EXPECT_TRUE(Sent<wire::Hello>().empty());
  Pass(Millis(500));
  EXPECT_EQ(Sent<wire::Hello>().size(), 1u);
}

TEST_F(Core, APongNamesItsPing) {
  Welcome();
  core_.OnMessage(wire::Ping{123}, {}, now_);
  ASSERT_EQ(Sent<wire::Pong>().size(), 1u);
  EXPECT_EQ(Sent<wire::Pong>()[0].number, 123u);
}

TEST_F(Core, HostCallsAreGivenOutAndAnsweredAtOnceLaterOrNever) {
  Welcome();
  Submit("a");
  for (std::uint32_t call = 1; call <= 3; ++call) {
    core_.OnMessage(wire::Call{JobId("a"), LeaseId(), 1, call}, {"method", "{}"}, now_);
  }
  const auto calls = core_.TakeCalls();
  ASSERT_EQ(calls.size(), 3u);
  EXPECT_EQ(calls[0].method, "method");
  core_.Reply(calls[0], {HostReply::Kind::kValue, "1", Millis(0)}, now_);
  core_.Reply(calls[1], {HostReply::Kind::kError, "no", Millis(50)}, now_);
  core_.Reply(calls[2], {HostReply::Kind::kNever, "", Millis(0)}, now_);
  ASSERT_EQ(Sent<wire::Answer>().size(), 1u);
  EXPECT_EQ(Sent<wire::Answer>()[0].kind, wire::AnswerKind::kValue);
  EXPECT_EQ(core_.NextWake(), now_ + Millis(50));
  Pass(Millis(50));
  ASSERT_EQ(Sent<wire::Answer>().size(), 2u);
  EXPECT_EQ(Sent<wire::Answer>()[1].kind, wire::AnswerKind::kError);
  EXPECT_EQ(Sent<wire::Answer>()[1].call, 2u);
  Pass(Millis(900));
  EXPECT_EQ(Sent<wire::Answer>().size(), 2u);
}

TEST_F(Core, ADelayedAnswerToAJobThatHasEndedIsNotSent) {
  Welcome();
  Submit("a");
  core_.OnMessage(wire::Call{JobId("a"), LeaseId(), 1, 1}, {"m", "{}"}, now_);
  core_.Reply(core_.TakeCalls().at(0), {HostReply::Kind::kValue, "1", Millis(50)}, now_);
  Final("a");
  Pass(Millis(50));
  EXPECT_TRUE(Sent<wire::Answer>().empty());
}

TEST_F(Core, CancelAsksTheBrokerOnceAndAgainAfterAReconnect) {
  Welcome();
  Submit("a");
  core_.Cancel(JobId("a"));
  core_.Cancel(JobId("a"));
  core_.Cancel(JobId("unknown"));
  EXPECT_EQ(Sent<wire::Cancel>().size(), 1u);
  core_.OnMessage(wire::Bye{}, {}, now_);
  Welcome(true);
  EXPECT_EQ(Sent<wire::Cancel>().size(), 2u);
}

TEST_F(Core, CancellingAJobThatWasNeverSentEndsItHere) {
  Submit("a");
  core_.Cancel(JobId("a"));
  const auto events = Events();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(std::get<JobFinal>(events[0]).outcome.error->code, Code::kCancelled);
  EXPECT_FALSE(std::get<JobFinal>(events[0]).outcome.error->started);
  Welcome();
  EXPECT_TRUE(Sent<wire::Submit>().empty());
}

TEST_F(Core, NothingFollowsAFailedLinkNotEvenTheEndOfAJobThatIsCancelled) {
  Submit("a");
  core_.OnMessage(wire::Refuse{"no"}, {}, now_);
  ASSERT_EQ(Events().size(), 1u);
  core_.Cancel(JobId("a"));
  EXPECT_TRUE(Events().empty());
}

TEST_F(Core, PingsEveryHeartbeatAndAnswersPings) {
  Welcome();
  Pass(Millis(1'000));
  Pass(Millis(1'000));
  EXPECT_EQ(Sent<wire::Ping>().size(), 2u);
  core_.OnMessage(wire::Ping{}, {}, now_);
  EXPECT_EQ(Sent<wire::Pong>().size(), 1u);
}

}  // namespace
}  // namespace skerry::client
