// What a proven identity opens to a peer, and what stays closed to it.
#include <gtest/gtest.h>

#include "broker/testing/core_harness.h"
#include "common/wire/negotiate.h"

namespace skerry::broker {
namespace {

using namespace skerry::broker::testing;

Peer Keyed(Side side, const std::string& link, const std::string& name, const std::string& key = "key") {
  return {side, link, std::make_shared<const Identity>(Identity{side, name, name + " " + key})};
}
Peer ClientOf(const std::string& tenant, const std::string& link = "c", const std::string& key = "key") {
  return Keyed(Side::kClient, link, tenant, key);
}
Peer WorkerOf(const std::string& name, const std::string& link = "w") {
  return Keyed(Side::kWorker, link, name);
}

class Keys : public ::testing::Test {
 protected:
  void Greet(const Peer& client, const std::string& session = "s") {
    wire::Hello hello;
    hello.session = SessionId(session);
    broker_.Say(client, hello);
  }
  void GreetAsWorker(const Peer& worker, const std::string& session = "w",
                     const std::vector<LeaseId>& leases = {}) {
    wire::Hello hello;
    hello.role = wire::Role::kWorker;
    hello.session = SessionId(session);
    hello.slots = 4;
    hello.memory_mb = 4096;
    hello.leases = leases;
    broker_.Say(worker, hello);
  }
  void Submit(const Peer& client, const std::string& id, const std::string& tenant) {
    JobSpec spec = CoreHarness::Spec(id);
    spec.tenant = TenantId(tenant);
    broker_.Say(client, wire::Submit{spec}, {"code", "1"});
  }
  template <class Message>
  std::size_t Count(const Peer& peer) {
    return broker_.Sent<Message>(peer).size();
  }

  CoreHarness broker_;
};

TEST_F(Keys, AJobOfTheKeysTenantIsTakenAndOneOfAnotherIsUnauthorized) {
  const Peer client = ClientOf("acme");
  Greet(client);
  Submit(client, "mine", "acme");
  EXPECT_EQ(Count<wire::Accepted>(client), 1u);
  Submit(client, "theirs", "other");
  const auto finals = broker_.Sent<wire::Final>(client);
  ASSERT_EQ(finals.size(), 1u);
  EXPECT_EQ(finals[0].id.str(), "theirs");
  EXPECT_EQ(finals[0].code, Code::kUnauthorized);
  EXPECT_FALSE(finals[0].started);
  EXPECT_EQ(broker_.core.counters().rejected[static_cast<std::size_t>(Rejection::kTenant)], 1u);
  EXPECT_EQ(broker_.core.queued(), 1u);
}

TEST_F(Keys, AHelloOfAnotherTenantIsRefusedAndSaysWhy) {
  const auto greet = [&](const Peer& client, const std::string& tenant) {
    wire::Hello hello;
    hello.session = SessionId("s");
    hello.tenant = TenantId(tenant);
    broker_.Say(client, hello);
  };
  const Peer client = ClientOf("acme");
  greet(client, "other");
  const auto refused = broker_.Sent<wire::Refuse>(client);
  ASSERT_EQ(refused.size(), 1u);
  EXPECT_NE(refused[0].reason.find("key is of tenant 'acme', its HELLO of 'other'"), std::string::npos)
      << refused[0].reason;
  EXPECT_EQ(broker_.core.counters().refused[static_cast<std::size_t>(PeerRefusal::kTenant)], 1u);
  EXPECT_EQ(broker_.core.sessions(), 0u);
  greet(client, "acme");
  greet(ClientPeer("plain"), "other");
  EXPECT_EQ(Count<wire::Welcome>(client), 1u);
  EXPECT_EQ(Count<wire::Welcome>(ClientPeer("plain")), 1u);
}

TEST_F(Keys, AJobOfAnotherTenantIsUnauthorizedBeforeThatTenantsCodeIsAskedFor) {
  const Peer client = ClientOf("acme");
  wire::Hello hello;
  hello.session = SessionId("s");
  hello.capabilities = {std::string(wire::kProgramsCapability)};
  broker_.Say(client, hello);
  JobSpec spec = CoreHarness::Spec("theirs");
  spec.tenant = TenantId("other");
  spec.program = true;
  spec.code_hash = std::string(32, 'h');
  broker_.Say(client, wire::Submit{spec}, {"", "1"});
  EXPECT_EQ(Count<wire::Need>(client), 0u);
  const auto finals = broker_.Sent<wire::Final>(client);
  ASSERT_EQ(finals.size(), 1u);
  EXPECT_EQ(finals[0].code, Code::kUnauthorized);
  EXPECT_EQ(broker_.core.counters().submitted, 1u);
}

TEST_F(Keys, NoRateOfAnotherTenantIsAskedFor) {
  auto tenants = Tenants::Parse("[tenants.acme]\nrate = 1\n[tenants.other]\nrate = 1\n", "tenants.toml");
  ASSERT_TRUE(tenants) << tenants.error().message;
  broker_.core.SetTenants(*std::move(tenants), broker_.now);
  const Peer client = ClientOf("acme");
  Greet(client);
  const auto ask = [&](const std::string& tenant) {
    JobSpec spec = CoreHarness::Spec("job");
    spec.tenant = TenantId(tenant);
    return broker_.core.AskFor(client, wire::Submit{spec});
  };
  EXPECT_TRUE(ask("acme"));
  EXPECT_FALSE(ask("other")) << "what Redis grants for it would be the other's";
}

TEST_F(Keys, ASessionsNameHas256BytesWithItsOwnersBeforeIt) {
  Greet(ClientOf("acme", "fits"), std::string(256 - 5, 's'));
  Greet(ClientOf("acme", "long"), std::string(256 - 4, 's'));
  Greet(ClientPeer("plain"), std::string(256, 's'));
  Greet(ClientPeer("parts"), "/" + std::string(255, 's'));
  EXPECT_EQ(Count<wire::Welcome>(ClientOf("acme", "fits")), 1u);
  EXPECT_EQ(Count<wire::Refuse>(ClientOf("acme", "long")), 1u);
  EXPECT_EQ(Count<wire::Welcome>(ClientPeer("plain")), 1u);
  EXPECT_EQ(Count<wire::Refuse>(ClientPeer("parts")), 1u);
}

TEST_F(Keys, WithoutAKeyThePeerSaysWhoItIs) {
  const Peer client = ClientPeer("c");
  Greet(client);
  Submit(client, "a", "acme");
  Submit(client, "b", "other");
  EXPECT_EQ(Count<wire::Accepted>(client), 2u);
}

TEST_F(Keys, ASessionOfAnotherTenantIsNotFoundByItsName) {
  const Peer victim = ClientOf("acme", "c1");
  Greet(victim, "nightly");
  Submit(victim, "job", "acme");
  const Peer thief = ClientOf("evil", "c2");
  Greet(thief, "nightly");
  const auto welcome = broker_.Sent<wire::Welcome>(thief);
  ASSERT_EQ(welcome.size(), 1u) << "nor is it kept out by it";
  EXPECT_FALSE(welcome[0].resumed);
  EXPECT_EQ(broker_.core.sessions(), 2u);
  // Whatever it knows of the other's job reaches nothing.
  broker_.Say(thief, wire::Cancel{JobId("job"), LeaseId()});
  broker_.Say(thief, wire::Ack{{"job"}});
  EXPECT_EQ(broker_.core.queued(), 1u);
  EXPECT_EQ(Count<wire::Final>(victim), 0u);
}

TEST_F(Keys, NoNameOfASessionReachesIntoAnothersNameSpace) {
  Greet(ClientOf("acme", "c1"), "x/y");
  for (const Peer& peer : {ClientPeer("c2"), ClientPeer("c3"), ClientOf("x", "c4")}) {
    Greet(peer, peer.routing == "c2" ? "acme/x/y" : peer.routing == "c3" ? "x/y" : "y");
    ASSERT_EQ(broker_.Sent<wire::Welcome>(peer).size(), 1u) << peer.routing;
    EXPECT_FALSE(broker_.Sent<wire::Welcome>(peer)[0].resumed) << peer.routing;
  }
  EXPECT_EQ(broker_.core.sessions(), 4u);
}

TEST_F(Keys, TheTenantsOtherKeyFindsTheSessionOfTheFirst) {
  const Peer before = ClientOf("acme", "c1", "old");
  Greet(before);
  Submit(before, "job", "acme");
  const Peer after = ClientOf("acme", "c2", "new");
  Greet(after);
  ASSERT_EQ(broker_.Sent<wire::Welcome>(after).size(), 1u);
  EXPECT_TRUE(broker_.Sent<wire::Welcome>(after)[0].resumed);
  EXPECT_EQ(broker_.core.sessions(), 1u);
}

TEST_F(Keys, AForgedRoutingIdIsAnUnknownPeer) {
  const Peer victim = ClientOf("acme", "c");
  Greet(victim);
  Submit(victim, "job", "acme");
  broker_.Clear();
  for (const Peer& forger : {ClientOf("evil", "c"), ClientPeer("c")}) {
    broker_.Say(forger, wire::Cancel{JobId("job"), LeaseId()});
    EXPECT_EQ(Count<wire::Bye>(forger), 1u) << "it must say HELLO, as whoever it is";
  }
  EXPECT_EQ(broker_.core.queued(), 1u);
}

TEST_F(Keys, AnAnswerToAnothersCallReachesNothing) {
  const Peer victim = ClientOf("acme", "c1");
  const Peer worker = WorkerOf("rack", "w");
  GreetAsWorker(worker);
  Greet(victim);
  Submit(victim, "job", "acme");
  const LeaseId lease = broker_.Sent<wire::Dispatch>(worker).at(0).lease;
  broker_.Say(worker, wire::Call{JobId(), lease, 1, 1}, {"method", "1"});
  const Peer thief = ClientOf("evil", "c2");
  Greet(thief);
  broker_.Say(thief, wire::Answer{JobId("job"), LeaseId(), 1, 1}, {"forged"});
  EXPECT_EQ(Count<wire::Answer>(worker), 0u);
  EXPECT_EQ(broker_.core.counters().stray_messages, 1u);
  broker_.Say(victim, wire::Answer{JobId("job"), LeaseId(), 1, 1}, {"true"});
  EXPECT_EQ(Count<wire::Answer>(worker), 1u);
}

TEST_F(Keys, AWorkerThatTakesAnothersNameGetsNoneOfItsJobs) {
  const Peer honest = WorkerOf("rack-1", "w1");
  GreetAsWorker(honest, "session");
  const Peer client = ClientOf("acme", "c");
  Greet(client);
  Submit(client, "job", "acme");
  const LeaseId lease = broker_.Sent<wire::Dispatch>(honest).at(0).lease;
  const Peer liar = WorkerOf("rack-2", "w2");
  GreetAsWorker(liar, "session", {lease});
  ASSERT_EQ(broker_.Sent<wire::Welcome>(liar).size(), 1u);
  EXPECT_FALSE(broker_.Sent<wire::Welcome>(liar)[0].resumed);
  broker_.FinishOk(liar, lease, "\"forged\"");
  EXPECT_EQ(Count<wire::Final>(client), 0u);
  EXPECT_EQ(broker_.core.counters().workers_cut_off, 1u);
  broker_.FinishOk(honest, lease, "\"true\"");
  EXPECT_EQ(broker_.PayloadOfLast(client), "\"true\"");
}

TEST_F(Keys, AKeyOfTheOtherSideIsRefusedWhateverRoleItClaims) {
  const Peer wrong{Side::kClient, "c", WorkerOf("rack").proof};
  Greet(wrong);
  EXPECT_EQ(Count<wire::Refuse>(wrong), 1u);
  EXPECT_EQ(broker_.core.sessions(), 0u);
}

TEST_F(Keys, ARevokedClientIsToldAndItsJobsEndWhileAllOthersGoOn) {
  const Peer old_key = ClientOf("acme", "c1", "old"), new_key = ClientOf("acme", "c2", "new");
  const Peer other = ClientOf("other", "c3"), plain = ClientPeer("c4");
  int session = 0;
  for (const Peer& client : {old_key, new_key, other, plain}) Greet(client, "s" + std::to_string(session++));
  for (const Peer& client : {old_key, new_key}) Submit(client, "a", "acme");
  Submit(other, "a", "other");
  Submit(plain, "a", "default");
  broker_.Clear();
  broker_.core.OnKeysChanged([&](const Identity& who) { return who != *old_key.proof; }, broker_.now);
  broker_.Pass(Millis(1));
  EXPECT_EQ(broker_.core.sessions(), 3u);
  EXPECT_EQ(broker_.core.queued(), 3u);
  for (Send& send : broker_.core.TakeSends()) broker_.sends.push_back(std::move(send));
  EXPECT_EQ(Count<wire::Refuse>(old_key), 1u);
  for (const Peer& client : {new_key, other, plain}) EXPECT_EQ(Count<wire::Refuse>(client), 0u);
  EXPECT_EQ(broker_.core.counters().refused[static_cast<std::size_t>(PeerRefusal::kRevoked)], 1u);
}

TEST_F(Keys, AClientThatIsAwayIsRevokedAsWell) {
  const Peer client = ClientOf("acme", "c");
  Greet(client);
  Submit(client, "a", "acme");
  broker_.core.OnMalformed(client, "puts it away", broker_.now);
  broker_.core.OnKeysChanged([](const Identity&) { return false; }, broker_.now);
  EXPECT_EQ(broker_.core.sessions(), 0u);
  EXPECT_EQ(broker_.core.queued(), 0u);
}

TEST_F(Keys, ARevokedWorkersJobsRunElsewhere) {
  const Peer client = ClientOf("acme", "c");
  const Peer revoked = WorkerOf("rack-1", "w1"), stays = WorkerOf("rack-2", "w2");
  GreetAsWorker(revoked, "w");
  Greet(client);
  Submit(client, "a", "acme");
  ASSERT_EQ(Count<wire::Dispatch>(revoked), 1u);
  GreetAsWorker(stays, "w");
  broker_.core.OnKeysChanged([](const Identity& who) { return who.name != "rack-1"; }, broker_.now);
  broker_.Pass(Millis(1'100), {client, stays});
  EXPECT_EQ(Count<wire::Refuse>(revoked), 1u);
  EXPECT_EQ(Count<wire::Refuse>(stays), 0u);
  EXPECT_EQ(Count<wire::Dispatch>(stays), 1u);
  EXPECT_EQ(Count<wire::Final>(client), 0u);
}

}  // namespace
}  // namespace skerry::broker
