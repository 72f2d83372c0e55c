// Messages that have no end, or frames without number: libzmq bounds neither, the broker hangs up.
#include <optional>
#include <thread>
#include <vector>

#include "broker/admin/admin_socket.h"
#include "broker/router.h"
#include "common/curve/socket_monitor.h"
#include "common/wire/admin_codec.h"
#include "tests/attack/attack.h"

namespace skerry::testing {
namespace {

class EndlessMessages : public Attack {
 protected:
  /// As many frames of one message, of the same bytes; one of as good as no end while it is on its way.
  static void Pour(broker::RawPeer& peer, std::size_t frames, std::uint64_t bytes) {
    peer.socket().set(zmq::sockopt::sndhwm, 0);
    auto* shared = new std::string(bytes, 'x');
    zmq::message_t frame(
        shared->data(), shared->size(), [](void*, void* hint) { delete static_cast<std::string*>(hint); },
        shared);
    for (std::size_t i = 0; i < frames; ++i) {
      zmq::message_t copy;
      copy.copy(frame);
      peer.socket().send(copy, i + 1 < frames ? zmq::send_flags::sndmore : zmq::send_flags::none);
    }
  }
  static bool Ends(curve::SocketMonitor& ends) {
    for (const TimePoint end = SteadyClock::now() + Millis(60'000); SteadyClock::now() < end;) {
      if (ends.Next()) return true;
      std::this_thread::sleep_for(Millis(5));
    }
    return false;
  }
};

TEST_F(EndlessMessages, OfATenantWithAKeyEndItsConnectionAndItMayComeAgain) {
  constexpr std::uint64_t kSaid = 2048;
  // Of two GiB: the bound, and what comes between looks of a broker that has to wait for its CPU.
  may_grow_ = 1024 * kMiB;
  const MetricsPage before = pool().Page();
  {
    broker::RawPeer peer = GreetedClient(kEvil, "endless");
    curve::SocketMonitor ends(context_, peer.socket(), ZMQ_EVENT_DISCONNECTED);
    Pour(peer, kSaid, kMiB);
    EXPECT_TRUE(Ends(ends));
  }
  EXPECT_TRUE(IsRefused(before, "flood"));
  EXPECT_TRUE(PoliteGoesOn());
  GreetedClient(kEvil, "again");
}

TEST_F(EndlessMessages, OfAnOperatorsKeyEndItsConnectionAtTheAdminSocket) {
  // Of a GiB; what comes between two looks at all connections.
  may_grow_ = 512 * kMiB;
  const std::string admin = "tcp://127.0.0.1:" + std::to_string(FreePort());
  Begin({"--admin", admin});
  const keys::LinkKeys operators = pool().keys().Add(keys::Role::kAdmin, "ops");
  pool().Reload();
  const MetricsPage before = pool().Page();
  broker::RawPeer peer(context_, admin, operators);
  curve::SocketMonitor ends(context_, peer.socket(), ZMQ_EVENT_DISCONNECTED);
  // Who has asked nothing yet is hung up on for less, as a stranger.
  wire::Ask ask;
  ask.what = wire::question::kBroker;
  peer.Put(std::vector<std::string>{wire::EncodeAdmin(ask)});
  zmq::message_t answer;
  ASSERT_TRUE(peer.socket().recv(answer));
  while (answer.more()) (void)peer.socket().recv(answer);
  // In frames that each are as large as a question may be.
  Pour(peer, (1024 * kMiB) / (wire::kMaxHeaderBytes - 64), wire::kMaxHeaderBytes - 64);
  EXPECT_TRUE(Ends(ends));
  EXPECT_TRUE(IsRefused(before, "flood"));
}

TEST_F(EndlessMessages, AreNotTheLargestThatAreMessages) {
  // Two, of which the broker may hold one while the other comes.
  may_grow_ = 640 * kMiB;
  const MetricsPage before = pool().Page();
  broker::RawPeer peer = GreetedClient(kEvil, "large");
  curve::SocketMonitor ends(context_, peer.socket(), ZMQ_EVENT_DISCONNECTED);
  constexpr int kMessages = 2;
  const std::string value(curve::kMaxFrameBytes - 64, 'x');
  wire::Answer answer;
  answer.id = JobId("nobody-s");
  answer.lease = LeaseId(1);
  answer.call = 1;
  for (int i = 0; i < kMessages; ++i) peer.Put(answer, {value});
  peer.Put(wire::Ping{7});
  std::optional<wire::Pong> pong;
  // Half a GiB is decrypted first, on a machine that may be busy.
  for (int patience = 0; !pong && patience < 4; ++patience) pong = peer.Await<wire::Pong>();
  ASSERT_TRUE(pong);
  EXPECT_EQ(pong->number, 7u) << "it lasted for many looks, and was heard to its end";
  EXPECT_FALSE(ends.Next());
  EXPECT_EQ(pool().Page().Value("skerry_handshakes_refused_total{reason=\"flood\"}"),
            before.Value("skerry_handshakes_refused_total{reason=\"flood\"}"));
}

TEST_F(EndlessMessages, OfMoreFramesThanABrokenPeerWouldSendEndTheConnectionOfATenant) {
  const MetricsPage before = pool().Page();
  broker::RawPeer peer = GreetedClient(kEvil, "frames");
  curve::SocketMonitor ends(context_, peer.socket(), ZMQ_EVENT_DISCONNECTED);
  peer.Put(std::vector<std::string>(broker::Router::kMostFrames, "x"));
  EXPECT_TRUE(peer.Await<wire::Refuse>()) << "of as many it hears what is wrong";
  EXPECT_FALSE(ends.Next());
  peer.Put(std::vector<std::string>(broker::Router::kMostFrames + 1, "x"));
  EXPECT_TRUE(Ends(ends));
  EXPECT_TRUE(IsRefused(before, "flood"));
}

}  // namespace
}  // namespace skerry::testing
