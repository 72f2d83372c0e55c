// Frames that are announced as huge, and sent in part: before a handshake, in it, by a peer that was let in.
#include <sys/socket.h>
#include <sys/un.h>

#include <thread>
#include <vector>

#include "common/curve/socket_monitor.h"
#include "tests/attack/attack.h"

namespace skerry::testing {
namespace {

constexpr std::uint64_t kMiB = 1u << 20;

class HugeFrames : public Attack {
 protected:
  /// So many connections that say `begin` and then as much of `bytes` as is taken.
  std::uint64_t Pour(std::size_t connections, const std::string& begin, std::uint64_t bytes) {
    const std::string chunk(kMiB, 'x');
    std::vector<Fd> open;
    std::uint64_t taken = 0;
    for (std::size_t i = 0; i < connections; ++i) {
      open.push_back(ConnectRaw(pool().client_port()));
      SayRaw(open.back(), begin);
    }
    for (std::uint64_t said = 0; said < bytes; said += chunk.size()) {
      for (const Fd& one : open) taken += SayRaw(one, chunk, Millis(20));
    }
    return taken;
  }
  /// Whether who says that is hung up on while one that came before it, and says nothing, is not. On a
  /// machine that stands still for seconds both may have had their time: then again.
  bool EndsBeforeItsTime(const std::string& words) {
    for (int attempt = 0; attempt < 5; ++attempt) {
      const Fd silent = ConnectRaw(pool().client_port()), peer = ConnectRaw(pool().client_port());
      SayRaw(peer, words);
      if (!HangsUp(peer, Millis(20'000))) return false;
      if (!HangsUp(silent, Millis(1))) return true;
    }
    return false;
  }
};

TEST_F(HugeFrames, OfAGibibyteBeforeTheHandshakeIsDoneEndTheirConnection) {
  for (const Kind kind : {Kind::kCommand, Kind::kMessage}) {
    EXPECT_TRUE(EndsBeforeItsTime(Greeting("CURVE") + LongFrame(kind, 1024 * kMiB) + std::string(kMiB, 'x')));
  }
}

TEST_F(HugeFrames, ThatWouldBeTakenFromAPeerAreNotHeldForAStranger) {
  // Of a GiB; what comes between two looks of a broker that has to wait for its CPU.
  may_grow_ = 256 * kMiB;
  const MetricsPage before = pool().Page();
  constexpr std::size_t kStrangers = 16;
  const std::uint64_t taken =
      Pour(kStrangers, Greeting("CURVE") + LongFrame(Kind::kCommand, 200 * kMiB), 64 * kMiB);
  std::printf("[ figures  ] %zu strangers were let say %.1f MiB of %zu\n", kStrangers,
              static_cast<double>(taken) / kMiB, kStrangers * 64);
  EXPECT_TRUE(IsRefused(before, "protocol", kStrangers));
}

TEST_F(HugeFrames, OfAGibibyteByAPeerThatWasLetInEndItsConnection) {
  // By the socket file, where a peer is let in without a key, so that the test can write the frame itself.
  const std::string path = pool().pool().client_url().substr(std::string("ipc://").size());
  const Fd peer(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(connect(peer.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  const std::string ready = std::string("\x05READY\x0bSocket-Type", 18) + std::string(
                                                                              "\0\0\0\x06"
                                                                              "DEALER",
                                                                              10);
  SayRaw(peer, Greeting("NULL") + "\x04" + static_cast<char>(ready.size()) + ready);
  SayRaw(peer, LongFrame(Kind::kMessage, 1024 * kMiB));
  SayRaw(peer, std::string(16 * kMiB, 'x'));
  EXPECT_TRUE(HangsUp(peer, Millis(20'000)));
}

TEST_F(HugeFrames, PastTheBoundByAPeerWithAKeyEndItsConnectionAndItsTenantGoesOn) {
  broker::RawPeer peer = GreetedClient(kEvil, "huge");
  curve::SocketMonitor ends(context_, peer.socket(), ZMQ_EVENT_DISCONNECTED);
  peer.Put({std::string(curve::kMaxFrameBytes + 1, 'x')});
  bool ended = false;
  for (const TimePoint end = SteadyClock::now() + Millis(60'000); !ended && SteadyClock::now() < end;) {
    ended = ends.Next().has_value();
    std::this_thread::sleep_for(Millis(5));
  }
  EXPECT_TRUE(ended);
  GreetedClient(kEvil, "again");
}

}  // namespace
}  // namespace skerry::testing
