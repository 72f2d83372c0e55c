#include "clients/cpp/broker_spread.h"

#include <map>
#include <set>

#include "clients/cpp/testing/spread_harness.h"

namespace skerry::client {
namespace {

TEST_F(Spread, EachBrokerHasASessionOfItsOwnAndJobsAreSpreadEvenly) {
  const auto to_a = Sent<wire::Hello>("a");
  const auto to_b = Sent<wire::Hello>("b");
  ASSERT_EQ(to_a.size() * to_b.size(), 1u);
  EXPECT_NE(to_a[0].session, to_b[0].session);
  WelcomeAll();
  for (int i = 0; i < 8; ++i) EXPECT_TRUE(Submit(Request(std::to_string(i))));
  EXPECT_EQ(Submitted("a").size(), 4u);
  EXPECT_EQ(Submitted("b").size(), 4u);
}

TEST_F(Spread, AllTogetherHaveTheirCreditAndNoMore) {
  WelcomeAll();
  EXPECT_EQ(spread_->places(), 20u);
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(Submit(Request(std::to_string(i))));
  EXPECT_FALSE(Submit(Request("20")));
  Final(Submitted("a")[0] == "0" ? "a" : "b", "0");
  EXPECT_EQ(Ends(), Texts{"0"});
  EXPECT_TRUE(Submit(Request("20")));
}

TEST_F(Spread, WhatALostBrokerHoldsGoesOnElsewhereAndHasOneFinal) {
  WelcomeAll();
  for (int i = 0; i < 6; ++i) Submit(Request(std::to_string(i)));
  const Texts at_a = Submitted("a");
  ASSERT_EQ(at_a.size(), 3u);
  Submitted("b");
  Pass(Millis(2'999), "a");
  EXPECT_TRUE(Submitted("b").empty());
  Pass(Millis(251), "a");
  EXPECT_EQ(Submitted("b"), at_a);
  EXPECT_EQ(spread_->counts().moved, 3u);
  // It was only cut off: what it knows better by now is cancelled there, and its finals are dropped.
  Welcome("a", true);
  Texts cancelled;
  for (const auto& cancel : Sent<wire::Cancel>("a")) cancelled.push_back(cancel.id.str());
  std::sort(cancelled.begin(), cancelled.end());
  EXPECT_EQ(cancelled, at_a);
  for (const std::string& id : at_a) Final("a", id);
  EXPECT_TRUE(Ends().empty());
  EXPECT_EQ(spread_->counts().late_finals, 3u);
  EXPECT_EQ(Sent<wire::Ack>("a").at(0).ids.size(), 3u);
  for (const std::string& id : at_a) Final("b", id);
  EXPECT_EQ(Ends(), at_a);
  Final("a", at_a[0]);
  EXPECT_TRUE(Ends().empty());
}

TEST_F(Spread, AJobThatMayNotRunAgainWaitsForItsBrokerAndIsLostWithIt) {
  WelcomeAll();
  for (int i = 0; i < 2; ++i) Submit(Request(std::to_string(i), Retry::kNever));
  const Texts at_a = Submitted("a");
  ASSERT_EQ(at_a.size(), 1u);
  Submitted("b");
  Pass(Millis(30'000), "a");
  EXPECT_TRUE(Submitted("b").empty());
  Welcome("a", true);
  EXPECT_EQ(Submitted("a"), at_a);  // the same id: its state or its final
  Final("a", at_a[0]);
  EXPECT_EQ(Ends(), at_a);
  Submit(Request("x", Retry::kNever));  // b has one still
  const Texts more = Submitted("a");
  ASSERT_EQ(more.size(), 1u);
  Pass(options_.failover_after + options_.reconnect_timeout + Millis(500), "a");
  EXPECT_EQ(Ends(), Texts{more[0] + " LOST"});
  EXPECT_EQ(spread_->link(), LinkState::kLinked);
}

TEST_F(Spread, AfterAHostCallOnlyAlwaysGoesOnElsewhere) {
  WelcomeAll();
  for (const Retry retry : {Retry::kSafe, Retry::kAlways}) {
    for (int i = 0; i < 2; ++i) Submit(Request(std::string(NameOf(retry)) + std::to_string(i), retry));
  }
  const Texts at_a = Submitted("a");
  ASSERT_EQ(at_a.size(), 2u);
  Submitted("b");
  for (const std::string& id : at_a) {
    wire::Call call;
    call.id = JobId(id);
    call.call = 1;
    Hear("a", call, {"m", "1"});
  }
  const auto calls = spread_->TakeCalls();
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_TRUE(spread_->Awaits(calls[0]));
  Pass(Millis(3'500), "a");
  EXPECT_EQ(Submitted("b"), Texts{at_a[0]});  // always0 or always1
  // An answer to the first run is none to the second.
  const HostCall& of_moved = calls[0].job.str() == at_a[0] ? calls[0] : calls[1];
  EXPECT_FALSE(spread_->Awaits(of_moved));
  spread_->Reply(of_moved, {HostReply::Kind::kValue, "1", Millis(0)}, now_);
  EXPECT_TRUE(Sent<wire::Answer>("b").empty());
}

TEST_F(Spread, WithNobodyElseALostBrokerIsWaitedFor) {
  Welcome("a");
  Submit(Request("1"));
  Submitted("a");
  Pass(Millis(4'000), "a");
  EXPECT_EQ(spread_->counts().moved, 0u);
  Welcome("b");
  Pass(Millis(250), "a");
  EXPECT_EQ(Submitted("b"), Texts{"1"});
}

TEST_F(Spread, OneBrokersRefusalIsNoFailureAndItIsAskedAgain) {
  Welcome("b");
  const Number first = At("a");
  Hear("a", wire::Refuse{"not yet"});
  Pass(Millis(250));
  EXPECT_EQ(spread_->link(), LinkState::kLinked);
  for (int i = 0; i < 3; ++i) Submit(Request(std::to_string(i)));
  EXPECT_EQ(Submitted("b").size(), 3u);
  Pass(Millis(5'250));
  EXPECT_NE(At("a"), first);
  EXPECT_EQ(Sent<wire::Hello>("a").size(), 1u);
}

TEST_F(Spread, WhenEachHasRefusedTheClientHasFailedAndSaysWhyOfEach) {
  Hear("a", wire::Refuse{"bad key"});
  Hear("b", wire::Refuse{"old version"});
  Pass(Millis(250));
  EXPECT_EQ(spread_->link(), LinkState::kFailed);
  const Texts ends = Ends();
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_NE(ends[0].find("bad key"), std::string::npos) << ends[0];
  EXPECT_NE(ends[0].find("old version"), std::string::npos) << ends[0];
  JobRequest request = Request("1");
  EXPECT_FALSE(spread_->Submit(request, now_));
}

TEST_F(Spread, ABrokerThatIsNoneAnyMoreFinishesWhatItHasAndIsLeft) {
  WelcomeAll();
  Submit(Request("1"));
  Submit(Request("2"));
  const Texts at_a = Submitted("a");
  spread_->Update({{}, {{"a", ""}}}, {}, now_);
  Pass(Millis(250));
  for (int i = 3; i < 6; ++i) EXPECT_TRUE(Submit(Request(std::to_string(i))));
  EXPECT_TRUE(Submitted("a").empty());
  EXPECT_NE(At("a"), 0u);
  Final("a", at_a[0]);
  EXPECT_EQ(Ends(), at_a);
  spread_->Acknowledge(JobId(at_a[0]));
  Sent<wire::Ack>("a");
  Pass(Millis(250));
  EXPECT_EQ(At("a"), 0u);
}

TEST_F(Spread, ABrokerThatComesBackBeforeItWasLeftKeepsItsSession) {
  WelcomeAll();
  Submit(Request("1"));
  Submit(Request("2"));
  const Number first = At("a");
  spread_->Update({{}, {{"a", ""}}}, {}, now_);
  Pass(Millis(250));
  spread_->Update({{{"a", ""}}, {}}, {}, now_);
  Pass(Millis(250));
  EXPECT_EQ(At("a"), first);
  EXPECT_EQ(spread_->members().size(), 2u);
  Submitted("a");
  EXPECT_TRUE(Submit(Request("3")));
  EXPECT_TRUE(Submit(Request("4")));
  EXPECT_EQ(Submitted("a").size(), 1u);
}

TEST_F(Spread, BrokersThatAreNeverAllGivenUpAtOneMomentAreGivenUpInTheEnd) {
  const TimePoint begun = now_;
  while (spread_->link() == LinkState::kConnecting && now_ - begun < Millis(60'000)) {
    // Each refuses while the other is being asked.
    const std::string turn = (now_ - begun) / Millis(4'000) % 2 == 0 ? "a" : "b";
    const auto& member = spread_->members().at(At(turn));
    if (!member.ask_again) Hear(turn, wire::Refuse{"busy"});
    Pass(Millis(250));
  }
  EXPECT_EQ(spread_->link(), LinkState::kFailed);
  EXPECT_LE(now_ - begun, 2 * options_.connect_timeout + Millis(500));
}

TEST_F(Spread, JobsOfOneProgramPreferOneBrokerAndSpillOver) {
  WelcomeAll();
  std::map<std::string, std::size_t> at;
  for (int i = 0; i < 6; ++i) {
    JobRequest request = Request(std::to_string(i));
    request.spec.program = true;
    Submit(std::move(request));
  }
  for (const char* broker : {"a", "b"}) at[broker] = Submitted(broker).size();
  EXPECT_EQ(std::max(at["a"], at["b"]), 4u);  // up to a quarter of its places more
  EXPECT_EQ(at["a"] + at["b"], 6u);
}

TEST_F(Spread, JobsOfOneTurnAllGoToOneBrokerWhichCountsThem) {
  WelcomeAll();
  int taken = 0;
  for (int i = 0; i < 20; ++i) {
    JobRequest request = Request(std::to_string(i));
    request.spec.turn = TurnId("t");
    taken += Submit(std::move(request)) ? 1 : 0;
  }
  EXPECT_EQ(taken, 10);
  EXPECT_EQ(std::max(Submitted("a").size(), Submitted("b").size()), 10u);
}

TEST_F(Spread, AJobIsSubmittedWhereAnEarlierLifeOfTheClientHadIt) {
  options_.placed_before = [](const JobId& id) { return id.str() == "0" ? "" : "b"; };
  spread_.emplace(options_, SessionId("s"), BrokerSpread::Places::kMany, now_);
  spread_->Update({{{"a", ""}, {"b", ""}}, {}}, {}, now_);
  Welcome("a");  // b has not answered yet
  for (int i = 0; i < 4; ++i) Submit(Request(std::to_string(i)));
  EXPECT_EQ(Submitted("a"), Texts{"0"});
  Welcome("b", true);
  EXPECT_EQ(Submitted("b"), (Texts{"1", "2", "3"}));
  std::set<std::string> placed;
  for (const auto& [id, endpoint] : spread_->TakePlacements()) placed.insert(id.str() + endpoint);
  EXPECT_EQ(placed, (std::set<std::string>{"0a", "1b", "2b", "3b"}));
}

TEST_F(Spread, ACancelledJobIsNotOverBeforeTheBrokerThatRunsItHasSaidSo) {
  WelcomeAll();
  Submit(Request("1"));
  Submit(Request("2"));
  const Texts at_a = Submitted("a");
  ASSERT_EQ(at_a.size(), 1u);
  Submitted("b");
  Pass(Millis(1'000), "a");
  spread_->Cancel(JobId(at_a[0]));
  EXPECT_EQ(Sent<wire::Cancel>("a").size(), 1u);
  Pass(Millis(10'000), "a");
  EXPECT_TRUE(Submitted("b").empty()) << "it goes on nowhere";
  EXPECT_TRUE(Ends().empty()) << "it may be running all the time";
  Welcome("a", true);
  EXPECT_EQ(Sent<wire::Cancel>("a").size(), 1u);
  CancelledBy("a", at_a[0]);
  EXPECT_EQ(Ends(), Texts{at_a[0] + " CANCELLED"});
}

TEST_F(Spread, ACancelledJobWhoseBrokerIsGivenUpEndsAsThatAndMayHaveRun) {
  WelcomeAll();
  Submit(Request("1"));
  Submit(Request("2"));
  const Texts at_a = Submitted("a");
  ASSERT_EQ(at_a.size(), 1u);
  Pass(Millis(1'000), "a");
  spread_->Cancel(JobId(at_a[0]));
  Pass(options_.failover_after + options_.reconnect_timeout + Millis(500), "a");
  EXPECT_EQ(Ends(), Texts{at_a[0] + " CANCELLED, started"});
}

TEST_F(Spread, AJobCancelledBetweenTwoBrokersIsEndedByTheFirst) {
  Welcome("a", false, 1);
  Welcome("b", false, 1);
  Submit(Request("1"));
  Submit(Request("2"));
  const std::string at_a = Submitted("a").at(0);
  Pass(Millis(3'500), "a");  // b has no room for it
  spread_->Cancel(JobId(at_a));
  EXPECT_TRUE(Ends().empty());
  EXPECT_EQ(spread_->unfinished(), 2u);
  Submitted("b");
  Final("b", at_a == "1" ? "2" : "1");
  Ends();
  Pass(Millis(250), "a");
  EXPECT_TRUE(Submitted("b").empty()) << "there is room now, but not for what is cancelled";
  Welcome("a", true);
  EXPECT_EQ(Sent<wire::Cancel>("a").size(), 1u);
  CancelledBy("a", at_a);
  EXPECT_EQ(Ends(), Texts{at_a + " CANCELLED"});
  EXPECT_EQ(spread_->unfinished(), 0u);
}

TEST_F(Spread, AJobCancelledBetweenTwoBrokersEndsWithTheFirstWhenThatIsGivenUp) {
  Welcome("a", false, 1);
  Welcome("b", false, 1);
  Submit(Request("1"));
  Submit(Request("2"));
  const std::string at_a = Submitted("a").at(0);
  Pass(Millis(3'500), "a");
  spread_->Cancel(JobId(at_a));
  Pass(options_.reconnect_timeout + Millis(500), "a");
  EXPECT_EQ(Ends(), Texts{at_a + " CANCELLED, started"});
  EXPECT_EQ(spread_->unfinished(), 1u);
}

TEST_F(Spread, AnIdThatIsUnfinishedAtOneBrokerIsRefusedAtAll) {
  WelcomeAll();
  Submit(Request("1"));
  JobRequest again = Request("1");
  EXPECT_EQ(spread_->Submit(again, now_).error().kind, ErrorKind::kInvalid);
}

TEST(SpreadOfNone, FailsWhenNoBrokerIsKnownInTimeAndSaysWhatWasWrong) {
  TimePoint now = TimePoint() + Millis(1'000);
  ClientOptions options;
  BrokerSpread spread(options, SessionId("s"), BrokerSpread::Places::kMany, now);
  spread.Update({}, {"b: cannot be resolved"}, now);
  spread.OnTick(now + options.connect_timeout - Millis(1));
  EXPECT_EQ(spread.link(), LinkState::kConnecting);
  spread.OnTick(now + options.connect_timeout);
  EXPECT_EQ(spread.link(), LinkState::kFailed);
  EXPECT_EQ(spread.failure().message, "no broker is known; b: cannot be resolved");
}

}  // namespace
}  // namespace skerry::client
