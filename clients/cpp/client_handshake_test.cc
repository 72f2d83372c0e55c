// A client whose handshakes are ended again and again: it goes on trying, and does not hammer.
#include <gtest/gtest.h>

#include "clients/cpp/client.h"
#include "common/curve/handshake_trouble.h"
#include "common/testing/closing_peer.h"

namespace skerry {
namespace {

TEST(ClientHandshake, ThatIsEndedAgainAndAgainIsTriedQuicklyAFewTimesThenMoreAndMoreSlowly) {
  const testing::ClosingPeer peer;
  ClientOptions options;
  options.brokers = {peer.url()};
  options.connect_timeout = Millis(1'500);
  const auto client = Client::Connect(std::move(options));
  ASSERT_FALSE(client);
  EXPECT_NE(client.error().message.find("the other side ended the handshake"), std::string::npos)
      << client.error().message;
  EXPECT_GT(peer.taken(), static_cast<int>(curve::HandshakeTrouble::kQuickFailures));
  // After 250, 500 and 1000 ms; libzmq alone makes 60 in a second. Two may be under way at each pause.
  EXPECT_LE(peer.taken(), 16);
}

}  // namespace
}  // namespace skerry
