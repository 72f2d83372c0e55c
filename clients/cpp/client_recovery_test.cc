// What a client and its jobs live through: a broker that forgets, a link that breaks, a life before this one.
#include <gtest/gtest.h>

#include "clients/cpp/testing/core_harness.h"

namespace skerry::client {
namespace {

class Recovery : public Core {
 protected:
  void SubmitWith(const std::string& id, Retry retry) {
    JobRequest request = Request(id);
    request.spec.retry = retry;
    Submit(std::move(request));
  }
  HostCall Call(const std::string& id, std::uint32_t number = 1, std::uint32_t attempt = 1) {
    core_.OnMessage(wire::Call{JobId(id), LeaseId(), attempt, number}, {"m", "{}"}, now_);
    auto calls = core_.TakeCalls();
    EXPECT_EQ(calls.size(), 1u);
    return calls.empty() ? HostCall() : calls[0];
  }
  void Answer(const HostCall& call, const std::string& value) {
    core_.Reply(call, {HostReply::Kind::kValue, value, Millis(0)}, now_);
  }
  void LoseLinkAndFind(bool resumed) {
    core_.OnMessage(wire::Bye{}, {}, now_);
    Clear();
    Welcome(resumed);
  }
  std::vector<std::string> Submitted() {
    std::vector<std::string> ids;
    for (const auto& submit : Sent<wire::Submit>()) ids.push_back(submit.job.id.str());
    return ids;
  }
  std::vector<std::string> Acknowledged() {
    std::vector<std::string> ids;
    for (const auto& ack : Sent<wire::Ack>()) ids.insert(ids.end(), ack.ids.begin(), ack.ids.end());
    return ids;
  }
};

using Ids = std::vector<std::string>;

TEST_F(Recovery, ABrokerThatForgotAJobGetsItAgainOnlyWhereASecondRunIsAllowed) {
  Welcome();
  SubmitWith("never", Retry::kNever);
  SubmitWith("safe", Retry::kSafe);
  SubmitWith("safe-called", Retry::kSafe);
  SubmitWith("always-called", Retry::kAlways);
  Call("safe-called");
  Call("always-called");
  LoseLinkAndFind(false);
  EXPECT_EQ(Submitted(), (Ids{"safe", "always-called"}));
  const auto events = Events();
  ASSERT_EQ(events.size(), 2u);
  for (const auto& event : events) {
    const Outcome& lost = std::get<JobFinal>(event).outcome;
    EXPECT_EQ(lost.error->code, Code::kLost);
    EXPECT_EQ(lost.error->fault, Fault::kInfrastructure);
    EXPECT_TRUE(lost.error->started);
    EXPECT_TRUE(lost.error->retryable);
  }
}

TEST_F(Recovery, AJobThatWasNeverSentIsSubmittedWhateverItsRetry) {
  Welcome();
  core_.OnMessage(wire::Bye{}, {}, now_);
  SubmitWith("never", Retry::kNever);
  Clear();
  Welcome(false);
  EXPECT_EQ(Submitted(), Ids{"never"});
}

TEST_F(Recovery, ABrokerThatKeptTheSessionHearsOfEveryJobAgain) {
  Welcome();
  SubmitWith("never", Retry::kNever);
  LoseLinkAndFind(true);
  EXPECT_EQ(Submitted(), Ids{"never"});
  EXPECT_TRUE(Events().empty());
}

TEST_F(Recovery, ABrokerThatFallsSilentIsSaidNotToAnswerUntilItIsBack) {
  const Millis whole = ClientOptions().broker_timeout + ClientOptions().reconnect_timeout;
  Welcome();
  EXPECT_TRUE(core_.Health(now_).answers);
  Pass(Millis(1'250));
  EXPECT_FALSE(core_.Health(now_).late);
  Pass(Millis(1'150));
  EXPECT_TRUE(core_.Health(now_).answers);
  EXPECT_TRUE(core_.Health(now_).late);
  Pass(Millis(100));
  EXPECT_FALSE(core_.Health(now_).answers);
  EXPECT_EQ(core_.Health(now_).gives_up_in, whole - Millis(2'500));
  Pass(Millis(7'500));  // the link is lost
  EXPECT_FALSE(core_.Health(now_).answers);
  EXPECT_EQ(core_.Health(now_).gives_up_in, whole - Millis(10'000));
  Welcome(true);
  EXPECT_TRUE(core_.Health(now_).answers);
}

TEST_F(Recovery, ABrokerThatSaidByeIsStoppedUnlessItIsThereAtOnce) {
  Welcome();
  core_.OnMessage(wire::Bye{}, {}, now_);
  Pass(Millis(499));
  EXPECT_TRUE(core_.Health(now_).answers) << "it may only have forgotten us";
  Pass(Millis(1));
  EXPECT_FALSE(core_.Health(now_).answers);
  EXPECT_TRUE(core_.Health(now_).stopped);
  EXPECT_EQ(core_.Health(now_).gives_up_in, ClientOptions().reconnect_timeout - Millis(500));
  Welcome(true);
  EXPECT_TRUE(core_.Health(now_).answers);
  EXPECT_FALSE(core_.Health(now_).stopped);
}

TEST_F(Recovery, AHostCallThatComesTwiceRunsItsHandlerOnce) {
  Welcome();
  Submit("a");
  const HostCall call = Call("a");
  core_.OnMessage(wire::Call{JobId("a"), LeaseId(), 1, 1}, {"m", "{}"}, now_);
  EXPECT_TRUE(core_.TakeCalls().empty());
  Answer(call, "1");
  EXPECT_EQ(Sent<wire::Answer>().size(), 1u);
}

TEST_F(Recovery, AnAnswerThatWasLostWithTheLinkIsGivenAgainWithoutTheHandler) {
  Welcome();
  Submit("a");
  Answer(Call("a"), "\"first\"");
  LoseLinkAndFind(true);
  core_.OnMessage(wire::Call{JobId("a"), LeaseId(), 1, 1}, {"m", "{}"}, now_);
  EXPECT_TRUE(core_.TakeCalls().empty());
  ASSERT_EQ(Sent<wire::Answer>().size(), 1u);
  EXPECT_EQ(*sent_.back().payloads.at(0), "\"first\"");
}

TEST_F(Recovery, AnAnswerReadyWhileTheLinkWasDownIsGivenWhenTheBrokerAsksAgain) {
  Welcome();
  Submit("a");
  const HostCall call = Call("a");
  core_.OnMessage(wire::Bye{}, {}, now_);
  Answer(call, "\"meanwhile\"");
  Clear();
  Welcome(true);
  EXPECT_TRUE(Sent<wire::Answer>().empty());
  core_.OnMessage(wire::Call{JobId("a"), LeaseId(), 1, 1}, {"m", "{}"}, now_);
  ASSERT_EQ(Sent<wire::Answer>().size(), 1u);
}

TEST_F(Recovery, ASecondAttemptsCallIsAnotherCall) {
  Welcome();
  Submit("a");
  Answer(Call("a"), "1");
  const HostCall again = Call("a", 1, 2);
  EXPECT_EQ(again.attempt, 2u);
  EXPECT_TRUE(core_.Awaits(again));
}

TEST_F(Recovery, AnAnswerTooOldToBeKeptIsAnErrorNotASilence) {
  Welcome();
  Submit("a");
  const std::string large(std::size_t{40} << 20, 'x');
  Answer(Call("a", 1), large);
  Answer(Call("a", 2), large);
  Clear();
  core_.OnMessage(wire::Call{JobId("a"), LeaseId(), 1, 1}, {"m", "{}"}, now_);
  ASSERT_EQ(Sent<wire::Answer>().size(), 1u);
  EXPECT_EQ(Sent<wire::Answer>()[0].kind, wire::AnswerKind::kError);
}

TEST_F(Recovery, NobodyAwaitsTheCallOfAJobThatHasEnded) {
  Welcome();
  Submit("a");
  const HostCall call = Call("a");
  EXPECT_TRUE(core_.Awaits(call));
  Final("a");
  EXPECT_FALSE(core_.Awaits(call));
}

TEST_F(Recovery, AFinalOfAnEarlierLifeWaitsUntilItsJobIsSubmitted) {
  Welcome(true);
  Final("a");
  EXPECT_TRUE(Acknowledged().empty());
  Submit("a");
  EXPECT_EQ(Submitted(), Ids{"a"});
  Final("a");
  EXPECT_EQ(Events().size(), 1u);
  core_.Acknowledge(JobId("a"));
  EXPECT_EQ(Acknowledged(), Ids{"a"});
}

TEST_F(Recovery, AFinalOfAnEarlierLifeThatTheCallerHasIsAcknowledgedOnItsWord) {
  Welcome(true);
  Final("a");
  core_.Acknowledge(JobId("a"));
  core_.Acknowledge(JobId("never-heard-of"));
  EXPECT_EQ(Acknowledged(), Ids{"a"});
}

// It had ended, its final was waiting for its job to be submitted, and then the broker died with it.
TEST_F(Recovery, AFinalOfAnEarlierLifeThatTheBrokerForgetsIsLostAndNotRunAgain) {
  Welcome(true);
  for (const char* id : {"never", "safe", "always"}) Final(id);
  LoseLinkAndFind(false);
  SubmitWith("never", Retry::kNever);
  SubmitWith("safe", Retry::kSafe);
  SubmitWith("always", Retry::kAlways);
  EXPECT_EQ(Submitted(), Ids{"always"});
  const auto events = Events();
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(std::get<JobFinal>(events[0]).outcome.error->code, Code::kLost);
}

TEST_F(Recovery, WithoutAnEarlierLifeAStrayFinalIsAcknowledgedAtOnce) {
  Welcome(false);
  Final("a");
  EXPECT_EQ(Acknowledged(), Ids{"a"});
}

TEST_F(Recovery, AnAckThatWasLostWithTheLinkIsSaidAgain) {
  Welcome(true);
  Submit("a");
  Final("a");
  core_.Acknowledge(JobId("a"));
  Clear();  // sent, and lost on its way
  LoseLinkAndFind(true);
  Final("a");
  EXPECT_EQ(Acknowledged(), Ids{"a"});
}

TEST_F(Recovery, AnIdMayBeUsedAgainOnceItsFinalIsOut) {
  Welcome();
  Submit("a");
  Final("a");
  Clear();
  Submit("a");
  const auto sends = core_.TakeSends();
  ASSERT_EQ(sends.size(), 2u);
  EXPECT_TRUE(std::holds_alternative<wire::Ack>(sends[0].header));
  EXPECT_TRUE(std::holds_alternative<wire::Submit>(sends[1].header));
}

}  // namespace
}  // namespace skerry::client
