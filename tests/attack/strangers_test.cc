// Who has no key, the wrong one, or one that is good no more: it hears nothing, is counted by why, and costs
// a polite tenant nothing.
#include <csignal>
#include <optional>
#include <thread>

#include "clients/cpp/handshake.h"
#include "common/curve/socket_monitor.h"
#include "common/testing/free_port.h"
#include "tests/attack/attack.h"

namespace skerry::testing {
namespace {

using broker::RawPeer;

// Long enough for a handshake that would succeed, on a busy machine.
constexpr Millis kNothingComes{500};

class Strangers : public Attack {
 protected:
  void GreetsInVain(RawPeer& peer, wire::Role role = wire::Role::kClient) {
    wire::Hello hello;
    hello.role = role;
    hello.session = SessionId("stranger");
    hello.slots = 64;
    hello.memory_mb = 65'536;
    peer.Put(hello);
    EXPECT_TRUE(peer.HearsNothing(kNothingComes));
  }
  keys::LinkKeys UnknownKey(keys::Role role) const {
    return {{role, "", keys::SecretKey::Generate()}, pool_key()};
  }
  keys::PublicKey pool_key() const { return const_cast<Strangers*>(this)->pool().WorkersKey().broker; }
};

TEST_F(Strangers, WithAnUnknownKeyAreKeptOut) {
  const MetricsPage before = pool().Page();
  RawPeer client = ClientPeer(UnknownKey(keys::Role::kClient));
  GreetsInVain(client);
  RawPeer worker = WorkerPeer(UnknownKey(keys::Role::kWorker));
  GreetsInVain(worker, wire::Role::kWorker);
  EXPECT_TRUE(IsRefused(before, "unknown_key", 2));
  EXPECT_EQ(pool().Page().Value("skerry_workers"), 1);
}

TEST_F(Strangers, ThatTakeAnotherKeyForTheBrokersAreKeptOut) {
  const MetricsPage before = pool().Page();
  keys::LinkKeys link = pool().KeyOf(kEvil);
  link.broker = keys::SecretKey::Generate().Public();
  RawPeer peer = ClientPeer(link);
  GreetsInVain(peer);
  EXPECT_TRUE(IsRefused(before, "protocol"));
}

TEST_F(Strangers, WithoutAMechanismAreKeptOut) {
  RawPeer client(context_, pool().clients_url());
  GreetsInVain(client);
  RawPeer worker(context_, pool().workers_url());
  GreetsInVain(worker, wire::Role::kWorker);
  EXPECT_EQ(pool().Page().Value("skerry_workers"), 1);
}

// These write their greetings themselves: libzmq's own peer may hang up before the broker does, and is then
// one that did not finish.
TEST_F(Strangers, WithAnotherMechanismAreHungUpOnAndCounted) {
  for (const char* mechanism : {"NULL", "PLAIN", "GSSAPI", "XURVE"}) {
    for (const std::uint16_t port : {pool().client_port(), pool().worker_port()}) {
      const MetricsPage before = pool().Page();
      const Fd peer = ConnectRaw(port);
      SayRaw(peer, Greeting(mechanism));
      EXPECT_TRUE(HangsUp(peer, Millis(20'000))) << mechanism;
      EXPECT_TRUE(IsRefused(before, "mechanism")) << mechanism;
    }
  }
}

TEST_F(Strangers, WithAPasswordAreKeptOut) {
  zmq::socket_t peer(context_, zmq::socket_type::dealer);
  peer.set(zmq::sockopt::linger, 0);
  peer.set(zmq::sockopt::plain_username, "admin");
  peer.set(zmq::sockopt::plain_password, "admin");
  curve::SocketMonitor monitor(context_, peer, curve::kHandshakeFailures | ZMQ_EVENT_HANDSHAKE_SUCCEEDED);
  peer.connect(pool().clients_url());
  std::optional<curve::SocketEvent> end;
  for (const TimePoint until = SteadyClock::now() + Millis(10'000); !end && SteadyClock::now() < until;) {
    end = monitor.Next();
    std::this_thread::sleep_for(Millis(1));
  }
  ASSERT_TRUE(end);
  EXPECT_NE(end->what, ZMQ_EVENT_HANDSHAKE_SUCCEEDED);
}

TEST_F(Strangers, WithTheKeyOfTheOtherDoorAreKeptOut) {
  const MetricsPage before = pool().Page();
  RawPeer worker_as_client = ClientPeer(pool().WorkersKey());
  GreetsInVain(worker_as_client);
  RawPeer client_as_worker = WorkerPeer(pool().KeyOf(kEvil));
  GreetsInVain(client_as_worker, wire::Role::kWorker);
  EXPECT_TRUE(IsRefused(before, "wrong_door", 2));
  EXPECT_EQ(pool().Page().Value("skerry_workers"), 1);
}

TEST_F(Strangers, WithARevokedKeyAreKeptOutAndCutOffWhereTheyAreIn) {
  RawPeer inside = GreetedClient(kEvil, "inside");
  inside.Put(JobOf(kEvil, "long"), {"for(;;);", "null"});
  ASSERT_TRUE(inside.Await<wire::Accepted>());
  const MetricsPage before = pool().Page();
  pool().keys().Revoke(pool().KeyOf(kEvil));
  pool().Reload();
  EXPECT_TRUE(inside.Await<wire::Refuse>());
  RawPeer again = ClientPeer(pool().KeyOf(kEvil));
  GreetsInVain(again);
  EXPECT_TRUE(IsRefused(before, "revoked_key"));
  // Its job has lost its reader, and ends; its slot is the polite tenant's again.
  pool().Await([](const MetricsPage& page) { return page.Value("skerry_worker_slots{state=\"used\"}") < 2; });
}

TEST_F(Strangers, AreToldByAHandshakeWhatKeepsThemOut) {
  const auto why = [&](keys::LinkSettings at, keys::Role role = keys::Role::kClient) {
    const Status open = client::TryHandshake(at, role, Millis(3'000));
    return open ? std::string() : open.error().message;
  };
  const std::string broker = pool().keys().broker_key();
  const std::string good = pool().keys().FileOf(pool().KeyOf(kEvil));
  const std::string workers = pool().keys().FileOf(pool().WorkersKey());
  const std::string unlisted = pool().keys().FileOf(pool().keys().Add(keys::Role::kClient, kEvil));
  const auto holds = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_EQ(why({pool().clients_url(), good, broker}), "");
  EXPECT_EQ(why({pool().workers_url(), workers, broker}, keys::Role::kWorker), "");
  EXPECT_PRED2(holds, why({pool().clients_url(), unlisted, broker}), "refuses this key");
  EXPECT_PRED2(holds, why({pool().workers_url(), good, broker}), "refuses this key") << "the wrong door";
  EXPECT_PRED2(holds, why({pool().clients_url(), "", ""}), "--key");
  EXPECT_PRED2(holds, why({pool().clients_url(), workers, broker}), "is a worker's key");
  EXPECT_PRED2(holds, why({"tcp://127.0.0.1:" + std::to_string(FreePort()), good, broker}), "nobody answers");
}

TEST_F(Strangers, AreToldByTheCommandLineWhatToDo) {
  keys::LinkKeys unlisted = pool().keys().Add(keys::Role::kClient, kEvil);  // and never published
  const RunReport report = [&] {
    RunOptions options;
    options.broker = pool().clients_url();
    options.args = pool().keys().FlagsOf(unlisted);
    return RunLines(Job("a", "return 1").Line() + "\n", options);
  }();
  EXPECT_EQ(report.exit_code, 69);
  EXPECT_NE(report.stderr_text.find("the broker refuses this key"), std::string::npos) << report.stderr_text;
}

}  // namespace
}  // namespace skerry::testing
