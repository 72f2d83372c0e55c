// This client at brokers of other releases: what they do not know it does not send, and says so.
#include <algorithm>

#include "clients/cpp/testing/core_harness.h"

namespace skerry::client {
namespace {

TEST_F(Core, ABrokerThatDoesNotKnowTurnsNeverGetsAJobThatCountsInOneOrEndsWithItsLink) {
  JobRequest turn = Request("turn");
  turn.spec.turn = TurnId("conversation");
  JobRequest budget = Request("budget");
  budget.spec.turn_executions = 3;
  JobRequest cancels = Request("cancels");
  cancels.spec.on_disconnect = OnDisconnect::kCancel;
  for (JobRequest* request : {&turn, &budget, &cancels}) Submit(std::move(*request));
  Submit("plain");
  capabilities_ = {"reproducible", "programs"};
  Welcome();
  ASSERT_EQ(Sent<wire::Submit>().size(), 1u);
  const auto events = Events();
  ASSERT_EQ(events.size(), 3u);
  for (const auto& event : events) {
    const JobError& error = std::get<JobFinal>(event).outcome.error.value();
    EXPECT_EQ(error.code, Code::kValidation);
    EXPECT_NE(error.message.find("onDisconnect are more than this broker knows: upgrade it"),
              std::string::npos)
        << error.message;
  }
}

TEST_F(Core, ABrokerThatKnowsTurnsGetsThem) {
  JobRequest turn = Request("turn");
  turn.spec.turn = TurnId("conversation");
  Submit(std::move(turn));
  core_.OnTick(now_);
  const auto offered = Sent<wire::Hello>().back().capabilities;
  EXPECT_NE(std::find(offered.begin(), offered.end(), "turns"), offered.end());
  capabilities_ = {"turns"};
  Welcome();
  ASSERT_EQ(Sent<wire::Submit>().size(), 1u);
  EXPECT_EQ(Sent<wire::Submit>()[0].job.turn.str(), "conversation");
}

TEST_F(Core, ABrokerOfAnotherVersionEndsTheLinkWithTheReason) {
  Submit("a");
  wire::Welcome welcome;
  welcome.version = wire::kVersion + 1;
  core_.OnMessage(welcome, {}, now_);
  const auto events = Events();
  ASSERT_FALSE(events.empty());
  const auto* failed = std::get_if<LinkFailed>(&events.back());
  ASSERT_NE(failed, nullptr);
  EXPECT_NE(failed->error.message.find("upgrade the client"), std::string::npos) << failed->error.message;
}

TEST_F(Core, ABrokerThatRefusesItsVersionEndsTheLinkWithTheBrokersReason) {
  Submit("a");
  core_.OnMessage(
      wire::Refuse{"this client speaks wire versions 1 to 1, this broker 2 to 3: upgrade the client"}, {},
      now_);
  const auto events = Events();
  ASSERT_FALSE(events.empty());
  const auto* failed = std::get_if<LinkFailed>(&events.back());
  ASSERT_NE(failed, nullptr);
  EXPECT_NE(failed->error.message.find("1 to 1, this broker 2 to 3: upgrade the client"), std::string::npos);
}

}  // namespace
}  // namespace skerry::client
