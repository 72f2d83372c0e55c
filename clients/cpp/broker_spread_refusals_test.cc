// What a client of several brokers does with jobs that one of them has no room for.
#include "clients/cpp/testing/spread_harness.h"

namespace skerry::client {
namespace {

class Refusals : public Spread {
 protected:
  /// As many for each of two brokers; those that a was given.
  Texts SubmitTo(int jobs) {
    WelcomeAll();
    for (int i = 0; i < jobs; ++i) EXPECT_TRUE(Submit(Request("j" + std::to_string(i))));
    Submitted("b");
    return Submitted("a");
  }
};

TEST_F(Refusals, WhatOneHasNoRoomForGoesToAnotherAtOnceAndHasOneFinal) {
  const Texts at_a = SubmitTo(4);
  ASSERT_EQ(at_a.size(), 2u);
  for (const std::string& id : at_a) Refuse("a", id);
  EXPECT_EQ(Submitted("b"), at_a);
  EXPECT_EQ(spread_->counts().refused, 2u);
  EXPECT_EQ(spread_->counts().moved, 0u);
  for (const std::string& id : at_a) Final("b", id);
  EXPECT_EQ(Ends(), at_a);
  Pass(Millis(1'000));
  EXPECT_TRUE(Submitted("a").empty()) << "it is with b, and nowhere else";
}

TEST_F(Refusals, OneThatHasRefusedGetsNothingUntilItIsToBeAskedAgain) {
  const Texts at_a = SubmitTo(2);
  Refuse("a", at_a.at(0), Millis(1'000));
  for (int i = 0; i < 4; ++i) Submit(Request("x" + std::to_string(i)));
  EXPECT_EQ(Submitted("b").size(), 5u);
  Pass(Millis(999));
  Submit(Request("y"));
  EXPECT_TRUE(Submitted("a").empty());
  Pass(Millis(1));
  Submit(Request("z"));
  EXPECT_EQ(Submitted("a"), Texts{"z"});
}

TEST_F(Refusals, WithTheOthersFullNewJobsAreHeldBackAndTheRefusedGoFirst) {
  Welcome("a", false, 2);
  Welcome("b", false, 1);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(Submit(Request("j" + std::to_string(i))));
  const Texts at_a = Submitted("a");
  const Texts at_b = Submitted("b");
  ASSERT_EQ(at_a.size(), 2u);
  for (const std::string& id : at_a) Refuse("a", id, Millis(60'000));
  EXPECT_TRUE(Submitted("b").empty());
  Final("b", at_b[0]);
  EXPECT_EQ(Ends(), at_b);
  EXPECT_FALSE(Submit(Request("new")));
  EXPECT_EQ(Submitted("b"), Texts{at_a[0]});
  Final("b", at_a[0]);
  Pass(Millis(250));
  EXPECT_EQ(Submitted("b"), Texts{at_a[1]});
  EXPECT_TRUE(Submitted("a").empty());
}

TEST_F(Refusals, AJobThatAllRefuseWaitsAndDoesNotGoToAndFro) {
  const std::string id = SubmitTo(2).at(0);
  int submits = 0;
  Refuse("a", id);
  for (int i = 0; i < 40; ++i) {
    for (const char* broker : {"a", "b"}) {
      for (const std::string& known : Submitted(broker)) {
        if (known != id) continue;
        ++submits;
        Refuse(broker, id);
      }
    }
    Pass(Millis(25));
  }
  EXPECT_GE(submits, 2);
  EXPECT_LE(submits, 8) << "twice for each 250 ms of a second";
  EXPECT_TRUE(Ends().empty());
}

TEST_F(Refusals, AJobThatAllRefuseExpiresAsItWouldWithOneBroker) {
  WelcomeAll();
  JobRequest request = Request("j");
  request.spec.deadline_ms = 500;
  Submit(std::move(request));
  const std::string first = Submitted("a").empty() ? "b" : "a";
  const std::string other = first == "a" ? "b" : "a";
  Refuse(first, "j", Millis(10'000));
  Pass(Millis(100));
  Refuse(other, "j", Millis(10'000));
  Pass(Millis(399));
  EXPECT_TRUE(Ends().empty());
  Pass(Millis(1));
  EXPECT_EQ(Ends(), Texts{"j EXPIRED"});
}

TEST_F(Refusals, AJobGoesElsewhereWhoseDeadlineIsNearerThanTheNextChanceHere) {
  WelcomeAll();
  JobRequest request = Request("j");
  request.spec.deadline_ms = 500;
  Submit(std::move(request));
  const std::string first = Submitted("a").empty() ? "b" : "a";
  Submitted(first);
  Pass(Millis(100));
  Refuse(first, "j", Millis(60'000));
  const auto moved = Sent<wire::Submit>(first == "a" ? "b" : "a");
  ASSERT_EQ(moved.size(), 1u);
  EXPECT_EQ(moved.back().job.deadline_ms, 400u);
}

TEST_F(Refusals, OneThatTakesNoJobsForEverKeepsNoneOfThem) {
  WelcomeAll();
  Texts ended;
  int next = 0;
  for (int turn = 0; turn < 200 && ended.size() < 50; ++turn) {
    while (next < 50 && Submit(Request("j" + std::to_string(next)))) ++next;
    for (const std::string& id : Submitted("a")) Refuse("a", id);
    for (const std::string& id : Submitted("b")) Final("b", id);
    for (const std::string& id : Ends()) ended.push_back(id);
    Pass(Millis(25));
  }
  EXPECT_EQ(ended.size(), 50u);
}

TEST_F(Refusals, ALimitOfATenantIsWaitedOutWhereItIsAndHindersNobodyElse) {
  const std::string id = SubmitTo(2).at(0);
  Refuse("a", id, Millis(500), "maxQueued");
  EXPECT_TRUE(Submitted("b").empty());
  Submit(Request("other"));
  Submit(Request("another"));
  EXPECT_EQ(Submitted("a").size(), 1u);
  Pass(Millis(500));
  EXPECT_EQ(Submitted("a"), Texts{id});
}

TEST_F(Refusals, AJobThatMayHaveBegunIsNoRefusedOneAndEnds) {
  const std::string id = SubmitTo(2).at(0);
  wire::Final final;
  final.id = JobId(id);
  final.code = Code::kOverloaded;
  final.retry_after_ms = 250;
  final.started = true;
  Hear("a", final);
  EXPECT_EQ(Ends(), Texts{id + " OVERLOADED"});
  Pass(Millis(500));
  EXPECT_TRUE(Submitted("b").empty());
}

TEST_F(Refusals, AFailFastJobIsToldAndTheNextGoElsewhere) {
  WelcomeAll();
  for (int i = 0; i < 2; ++i) {
    JobRequest request = Request("j" + std::to_string(i));
    request.spec.admission = Admission::kFailFast;
    Submit(std::move(request));
  }
  const std::string id = Submitted("a").at(0);
  Submitted("b");
  Refuse("a", id);
  EXPECT_EQ(Ends(), Texts{id + " OVERLOADED"});
  Submit(Request("next"));
  EXPECT_EQ(Submitted("b"), Texts{"next"});
}

TEST_F(Refusals, JobsOfATurnStayWithABusyBrokerAndLeaveOneThatRunsNothing) {
  WelcomeAll();
  JobRequest request = Request("t");
  request.spec.turn = TurnId("t");
  Submit(std::move(request));
  const std::string home = Submitted("a").empty() ? "b" : "a";
  const std::string other = home == "a" ? "b" : "a";
  Submitted(other);
  const TimePoint begun = now_;
  while (now_ - begun < options_.failover_after) {
    Refuse(home, "t");
    EXPECT_TRUE(Submitted(other).empty());
    Pass(Millis(250));
    EXPECT_EQ(Submitted(home), Texts{"t"});
  }
  Refuse(home, "t");
  EXPECT_EQ(Submitted(other), Texts{"t"});
}

TEST_F(Refusals, ABusyBrokerThatEndsJobsKeepsThoseOfItsTurns) {
  WelcomeAll();
  JobRequest request = Request("t");
  request.spec.turn = TurnId("t");
  Submit(std::move(request));
  const std::string home = Submitted("a").empty() ? "b" : "a";
  const std::string other = home == "a" ? "b" : "a";
  for (int i = 0; i < 4; ++i) Submit(Request("j" + std::to_string(i)));
  const Texts beside = Submitted(home);
  ASSERT_FALSE(beside.empty());
  for (int i = 0; i < 20; ++i) {  // 2.25 s, then 2.75 s
    Refuse(home, "t");
    Pass(Millis(250));
    if (i == 8) Final(home, beside[0]);
  }
  EXPECT_EQ(spread_->counts().refused, 0u);
}

TEST_F(Refusals, AThousandThatWaitForOneBrokerComeAgainAFewAtATimeAndThenFaster) {
  options_.max_in_flight = 1'000;
  spread_.emplace(options_, SessionId("s"), BrokerSpread::Places::kMany, now_);
  spread_->Update({{{"a", ""}}, {}}, {}, now_);
  Pass(Millis(1));
  Welcome("a", false, 1'000);
  for (int i = 0; i < 1'000; ++i) Submit(Request("j" + std::to_string(i)));
  for (const std::string& id : Submitted("a")) Refuse("a", id);
  Pass(Millis(250));
  const Texts probes = Submitted("a");
  EXPECT_EQ(probes.size(), 16u);
  for (const std::string& id : probes) Refuse("a", id);
  Pass(Millis(250));
  EXPECT_EQ(Submitted("a").size(), 16u) << "nothing has been taken";
  std::size_t taken = 16;
  for (int i = 0; i < 6; ++i) {
    now_ += Millis(50);
    spread_->OnTick(now_);
    taken += Submitted("a").size();
  }
  EXPECT_EQ(taken, 1'000u);
}

TEST_F(Refusals, ABrokerIsToldThatItsClientHasOthersAndAnOnlyOneIsNot) {
  const auto offers = [](const auto& hellos) {
    const auto& caps = hellos.at(0).capabilities;
    return std::find(caps.begin(), caps.end(), "spreads") != caps.end();
  };
  EXPECT_TRUE(offers(Sent<wire::Hello>("a")));
  spread_.emplace(options_, SessionId("s"), BrokerSpread::Places::kOne, now_);
  spread_->Update({{{"a", ""}}, {}}, {}, now_);
  spread_->OnTick(now_);
  EXPECT_FALSE(offers(Sent<wire::Hello>("a")));
}

}  // namespace
}  // namespace skerry::client
