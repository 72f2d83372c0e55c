// The operators' door over real sockets: whose key is answered there, and from when on it is not.
#include <sys/stat.h>

#include <optional>

#include "broker/testing/door_fixture.h"
#include "common/wire/admin_codec.h"

namespace skerry::broker {
namespace {

using testing::DoorTest;
using testing::kNothingComes;

/// What an operator's tool asks first, and the broker's figures that come back; nothing: it does not answer.
std::optional<wire::BrokerRow> AskedBy(RawPeer& tool, Millis patience = Millis(kPatienceMs)) {
  wire::Ask ask;
  ask.what = wire::question::kBroker;
  // Who was refused already has nobody left to send to.
  tool.socket().set(zmq::sockopt::sndtimeo, static_cast<int>(patience.count()));
  tool.Put(std::vector<std::string>{wire::EncodeAdmin(ask)});
  tool.socket().set(zmq::sockopt::rcvtimeo, static_cast<int>(patience.count()));
  zmq::message_t head, rows;
  if (!tool.socket().recv(head) || !head.more()) return std::nullopt;
  (void)tool.socket().recv(rows);
  const auto read = wire::ReadRows<wire::BrokerRow>({rows.data<char>(), rows.size()}, 1);
  EXPECT_TRUE(read);
  return read ? std::optional(read->at(0)) : std::nullopt;
}

class AdminDoor : public DoorTest {
 protected:
  /// Ends the server, after which its counters may be looked at.
  const BrokerCounters& Counted() {
    Tell(stop_);
    thread_.join();
    return server_->counters();
  }
};

TEST_F(AdminDoor, AnOperatorsKeyAsksAndIsAnswered) {
  RawPeer tool(context_, admins_, With(admin_, keys::Role::kAdmin)), local(context_, local_admin_);
  for (RawPeer* asking : {&tool, &local, &tool}) EXPECT_TRUE(AskedBy(*asking));
  struct stat about {};
  ASSERT_EQ(stat((folder_ + "/a").c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0600u);
}

TEST_F(AdminDoor, NobodyElseIsHeardAndAllAreCounted) {
  RawPeer client(context_, admins_, With(acme_)), worker(context_, admins_, With(worker_)),
      stranger(context_, admins_, With(stranger_)), plain(context_, admins_);
  for (RawPeer* peer : {&client, &worker, &stranger, &plain}) EXPECT_FALSE(AskedBy(*peer, kNothingComes));
  RawPeer at_clients = Client(admin_), at_workers(context_, workers_, With(admin_));
  at_workers.Put(WorkerHello());
  for (RawPeer* peer : {&at_clients, &at_workers}) EXPECT_TRUE(peer->HearsNothing(kNothingComes));
  RawPeer tool(context_, admins_, With(admin_, keys::Role::kAdmin));
  EXPECT_TRUE(AskedBy(tool)) << "it is open to who may ask all the same";
  const BrokerCounters& counted = Counted();
  const auto refused = [&](HandshakeRefusal why) {
    return counted.handshakes_refused[static_cast<std::size_t>(why)];
  };
  EXPECT_GE(refused(HandshakeRefusal::kWrongDoor), 4u) << "two here, and an operator's at two other doors";
  EXPECT_GE(refused(HandshakeRefusal::kUnknownKey), 1u);
  EXPECT_GE(refused(HandshakeRefusal::kMechanism) + refused(HandshakeRefusal::kUnfinished), 1u)
      << "whichever side sees first that they do not agree hangs up on the other";
}

TEST_F(AdminDoor, ARevokedOperatorIsHeardNoMoreAndHungUpOn) {
  RawPeer tool(context_, admins_, With(admin_, keys::Role::kAdmin)), local(context_, local_admin_);
  ASSERT_TRUE(AskedBy(tool));
  ASSERT_TRUE(AskedBy(local));
  curve::SocketMonitor watched(context_, tool.socket(), ZMQ_EVENT_DISCONNECTED);
  curve::SocketMonitor beside(context_, local.socket(), ZMQ_EVENT_DISCONNECTED);
  RawPeer client = Client(acme_);
  ASSERT_TRUE(client.Await<wire::Welcome>());
  Authorize({acme_, admin_}, true);
  Tell(reload_);
  ASSERT_TRUE(client.Await<wire::Refuse>()) << "the list is in force";
  EXPECT_FALSE(AskedBy(tool, kNothingComes));
  EXPECT_NE(FailureOf(watched, ZMQ_EVENT_DISCONNECTED), 0u);
  EXPECT_TRUE(AskedBy(local)) << "who may open the file has no key to lose";
  EXPECT_FALSE(beside.Next());
  EXPECT_GE(Counted().unheard_messages, 1u);
}

TEST_F(AdminDoor, AKeyThatIsAClientsNowAsksNoMore) {
  RawPeer tool(context_, admins_, With(admin_, keys::Role::kAdmin));
  ASSERT_TRUE(AskedBy(tool));
  std::ofstream(options_.door.authorized_file, std::ios::trunc)
      << "[clients]\nacme = " << Key(admin_) << "\n";
  Tell(reload_);
  RawPeer client = Client(admin_);
  ASSERT_TRUE(client.Await<wire::Welcome>()) << "the list is in force";
  EXPECT_FALSE(AskedBy(tool, kNothingComes));
}

}  // namespace
}  // namespace skerry::broker
