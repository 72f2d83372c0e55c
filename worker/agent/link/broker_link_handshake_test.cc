// A link whose handshakes are ended again and again: the worker goes on trying, does not hammer, and says so
// once.
#include <gtest/gtest.h>

#include "common/curve/handshake_trouble.h"
#include "common/logging.h"
#include "common/testing/closing_peer.h"
#include "worker/agent/link/broker_link.h"

namespace skerry::agent {
namespace {

struct Unmoved final : LinkListener {
  void OnWelcome(const wire::Welcome&, Memory) override {}
  void OnMessage(wire::Header, std::vector<std::string>) override {}
  void OnRefused(const std::string&) override {}
  void OnCutOff() override {}
};

TEST(BrokerLinkHandshake, ThatIsEndedAgainAndAgainIsTriedMoreAndMoreSlowlyAndToldOnce) {
  const skerry::testing::ClosingPeer peer;
  ASSERT_TRUE(InitLogging("test", "info"));
  ::testing::internal::CaptureStderr();
  EventLoop loop;
  Unmoved listener;
  BrokerLink link(loop, listener, {peer.url(), "", ""}, [] { return wire::Hello(); });
  ASSERT_TRUE(link.Open());
  const auto end = loop.After(Millis(2'500), [&] { loop.Stop(); });
  loop.Run();
  link.Close(Millis(0));
  const std::string log = ::testing::internal::GetCapturedStderr();
  ASSERT_TRUE(InitLogging("test", "off"));
  EXPECT_GT(peer.taken(), static_cast<int>(curve::HandshakeTrouble::kQuickFailures) + 1);
  // After 250, 500 and 1000 ms, as its heartbeat looks; libzmq alone makes 13 in a second.
  EXPECT_LE(peer.taken(), 16);
  const std::size_t told = log.find("no link to the broker");
  ASSERT_NE(told, std::string::npos) << log;
  EXPECT_NE(log.find("the other side ended the handshake"), std::string::npos) << log;
  EXPECT_EQ(log.find("no link to the broker", told + 1), std::string::npos) << log;
}

}  // namespace
}  // namespace skerry::agent
