#include <gtest/gtest.h>

#include <algorithm>

#include "clients/cpp/testing/core_harness.h"

namespace skerry::client {
namespace {

using Turns = Core;

TEST_F(Turns, ATurnAndWhatADisconnectDoesReachABrokerThatKnowsThemAndNoOther) {
  JobRequest turn = Request("turn");
  turn.spec.turn = TurnId("t");
  turn.spec.turn_executions = 3;
  JobRequest fleeting = Request("fleeting");
  fleeting.spec.on_disconnect = OnDisconnect::kCancel;
  Submit(std::move(turn));
  Submit(std::move(fleeting));
  core_.OnTick(now_);
  const auto offered = Sent<wire::Hello>().back().capabilities;
  EXPECT_NE(std::find(offered.begin(), offered.end(), "turns"), offered.end());
  Welcome();
  const auto sent = Sent<wire::Submit>();
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(sent[0].job.turn.str(), "t");
  EXPECT_EQ(sent[0].job.turn_executions, 3u);
  EXPECT_EQ(sent[1].job.on_disconnect, OnDisconnect::kCancel);
  core_.OnMessage(wire::Bye{}, {}, now_);
  Clear();
  capabilities_ = {"programs"};
  Welcome(true);
  EXPECT_TRUE(Sent<wire::Submit>().empty());
  const auto events = Events();
  ASSERT_EQ(events.size(), 2u);
  for (const ClientEvent& event : events) {
    const JobError& error = std::get<JobFinal>(event).outcome.error.value();
    EXPECT_EQ(error.code, Code::kValidation);
    EXPECT_NE(error.message.find("upgrade it"), std::string::npos) << error.message;
  }
}

TEST_F(Turns, ATurnThatNoBrokerCanReadIsTheCallersMistake) {
  const auto refused = [&](const std::string& turn, std::uint64_t executions) {
    JobRequest request = Request("a");
    request.spec.turn = TurnId(turn);
    request.spec.turn_executions = executions;
    const auto taken = core_.Submit(request, now_);
    return !taken && taken.error().kind == ErrorKind::kInvalid;
  };
  EXPECT_TRUE(refused(std::string(257, 't'), 0));
  EXPECT_TRUE(refused("new\nline", 0));
  EXPECT_TRUE(refused("", 1));
  EXPECT_FALSE(refused(std::string(256, 't'), 1));
}

}  // namespace
}  // namespace skerry::client
