// This client at brokers of other releases: what they do not know it does not send, and says so.
#include "clients/cpp/testing/core_harness.h"

namespace skerry::client {
namespace {

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
