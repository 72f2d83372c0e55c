// Links: who is welcomed, refused, forgotten.
#include "broker/broker_core.h"

#include "broker/testing/core_harness.h"

namespace skerry::broker {
namespace {

using testing::ClientPeer;
using testing::CoreHarness;
using testing::WorkerPeer;

TEST(BrokerCore, WelcomesAClientWithItsCreditAndTimes) {
  CoreHarness broker;
  broker.ConnectClient("c", "s");
  const auto welcomes = broker.ToClient<wire::Welcome>("c");
  ASSERT_EQ(welcomes.size(), 1u);
  EXPECT_EQ(welcomes[0].credit, 1024u);
  EXPECT_EQ(welcomes[0].session_ttl_ms, 30'000u);
  EXPECT_EQ(welcomes[0].heartbeat_ms, 1'000u);
  EXPECT_FALSE(welcomes[0].resumed);
}

TEST(BrokerCore, TellsAWorkerToEndWhatItRunsBeforeItIsGivenUp) {
  CoreHarness broker;
  broker.ConnectWorker("w", 1);
  const auto welcomes = broker.ToWorker<wire::Welcome>("w");
  ASSERT_EQ(welcomes.size(), 1u);
  EXPECT_EQ(welcomes[0].session_ttl_ms, 8'000u) << "of a peer timeout of 10 s, with heartbeats of 1 s";
}

TEST(BrokerCore, AnOrderlyStopSaysByeToLinkedClientsAlone) {
  CoreHarness broker;
  broker.ConnectClient("a", "s1");
  broker.ConnectClient("b", "s2");
  broker.Say(ClientPeer("b"), wire::Bye{});
  broker.Stop();
  EXPECT_EQ(broker.ToClient<wire::Bye>("a").size(), 1u);
  EXPECT_TRUE(broker.ToClient<wire::Bye>("b").empty());
}

TEST(BrokerCore, RefusesAPeerOfAnotherVersionOrRoleOrWithoutASession) {
  CoreHarness broker;
  wire::Hello hello;
  hello.session = SessionId("s");
  hello.version = wire::kVersion + 5;
  hello.oldest_version = wire::kVersion + 1;
  broker.Say(ClientPeer("new"), hello);
  EXPECT_EQ(broker.ToClient<wire::Refuse>("new").size(), 1u);
  hello = wire::Hello{};
  hello.session = SessionId("s");
  hello.role = wire::Role::kWorker;
  broker.Say(ClientPeer("role"), hello);
  EXPECT_EQ(broker.ToClient<wire::Refuse>("role").size(), 1u);
  broker.Say(ClientPeer("nameless"), wire::Hello{});
  EXPECT_EQ(broker.ToClient<wire::Refuse>("nameless").size(), 1u);
  EXPECT_EQ(broker.core.sessions(), 0u);
}

TEST(BrokerCore, SpeaksTheOlderVersionOfANewerPeerThatStillKnowsOurs) {
  CoreHarness broker;
  wire::Hello hello;
  hello.session = SessionId("s");
  hello.version = wire::kVersion + 5;
  hello.oldest_version = wire::kVersion;
  broker.Say(ClientPeer("c"), hello);
  ASSERT_EQ(broker.ToClient<wire::Welcome>("c").size(), 1u);
  EXPECT_EQ(broker.ToClient<wire::Welcome>("c")[0].version, wire::kVersion);
}

TEST(BrokerCore, RefusesMoreClientsThanMaxPeersButLetsAKnownOneBackIn) {
  BrokerConfig config;
  config.max_peers = 1;
  CoreHarness broker(config);
  broker.ConnectClient("a", "s1");
  broker.ConnectClient("b", "s2");
  EXPECT_EQ(broker.ToClient<wire::Refuse>("b").size(), 1u);
  broker.ConnectClient("a2", "s1");
  EXPECT_EQ(broker.ToClient<wire::Welcome>("a2").size(), 1u);
}

TEST(BrokerCore, RefusesAWorkerWithoutMemoryOrWithImpossiblyManySlots) {
  CoreHarness broker;
  broker.ConnectWorker("none", std::uint64_t{1} << 40);
  broker.ConnectWorker("empty", 1, 0);
  EXPECT_EQ(broker.ToWorker<wire::Refuse>("none").size(), 1u);
  EXPECT_EQ(broker.ToWorker<wire::Refuse>("empty").size(), 1u);
  EXPECT_EQ(broker.core.workers(), 0u);
}

TEST(BrokerCore, TellsAnUnknownPeerToSayHelloAgain) {
  CoreHarness broker;
  broker.Submit("stranger", "a");
  EXPECT_EQ(broker.ToClient<wire::Bye>("stranger").size(), 1u);
  broker.Say(WorkerPeer("stranger"), wire::Ping{});
  EXPECT_EQ(broker.ToWorker<wire::Bye>("stranger").size(), 1u);
  broker.Clear();
  broker.Say(ClientPeer("stranger"), wire::Bye{});  // no answer: two strangers must not say BYE for ever
  EXPECT_TRUE(broker.sends.empty());
}

TEST(BrokerCore, AnswersPingsAndPingsItsPeersEveryHeartbeat) {
  CoreHarness broker;
  broker.ConnectClient("c", "s");
  broker.ConnectWorker("w", 1);
  broker.Say(ClientPeer("c"), wire::Ping{});
  broker.Say(WorkerPeer("w"), wire::Ping{});
  EXPECT_EQ(broker.ToClient<wire::Pong>("c").size(), 1u);
  EXPECT_EQ(broker.ToWorker<wire::Pong>("w").size(), 1u);
  broker.Pass(Millis(3'000), {ClientPeer("c"), WorkerPeer("w")});
  EXPECT_EQ(broker.ToClient<wire::Ping>("c").size(), 3u);
  EXPECT_EQ(broker.ToWorker<wire::Ping>("w").size(), 3u);
}

TEST(BrokerCore, AWorkerSilentForThePeerTimeoutIsGoneAndOneThatTalksStays) {
  CoreHarness broker;
  broker.ConnectWorker("dead", 1);
  broker.ConnectWorker("live", 1);
  broker.Pass(Millis(9'000), {WorkerPeer("live")});
  EXPECT_EQ(broker.core.workers(), 2u);
  broker.Pass(Millis(1'000), {WorkerPeer("live")});
  EXPECT_EQ(broker.core.workers(), 1u);
}

TEST(BrokerCore, AClientsSessionOutlivesItsSilenceByTheTtlAndNoLonger) {
  CoreHarness broker;
  broker.ConnectClient("c", "s");
  broker.Pass(Millis(39'000));  // 10 s of silence, 29 s away
  EXPECT_EQ(broker.core.sessions(), 1u);
  broker.Pass(Millis(1'000));
  EXPECT_EQ(broker.core.sessions(), 0u);
}

TEST(BrokerCore, AMalformedHeaderIsRefusedWithItsReason) {
  CoreHarness broker;
  broker.ConnectClient("c", "s");
  broker.core.OnMalformed(ClientPeer("c"), "submit.id must be a string", broker.now);
  bool found = false;
  for (const Send& send : broker.core.TakeSends()) {
    const auto* refuse = std::get_if<wire::Refuse>(&send.header);
    found = found || (refuse != nullptr && refuse->reason.find("submit.id") != std::string::npos);
  }
  EXPECT_TRUE(found);
}

TEST(BrokerCore, NothingMoreIsSentToAClientThatWasRefusedForAMessageNotItsToSend) {
  CoreHarness broker;
  broker.ConnectClient("c", "s");
  broker.Say(ClientPeer("c"), wire::Credit{});
  EXPECT_EQ(broker.ToClient<wire::Refuse>("c").size(), 1u);
  broker.Clear();
  broker.Pass(Millis(3'000));
  EXPECT_TRUE(broker.sends.empty()) << "not even a PING";
  EXPECT_EQ(broker.core.sessions(), 1u) << "which can be resumed";
}

TEST(BrokerCore, AMessageThatIsNotThePeersToSendIsRefused) {
  CoreHarness broker;
  broker.ConnectClient("c", "s");
  broker.ConnectWorker("w", 1);
  broker.Say(ClientPeer("c"), wire::Final{});
  broker.Say(WorkerPeer("w"), wire::Submit{CoreHarness::Spec("a")}, {"code", ""});
  EXPECT_EQ(broker.ToClient<wire::Refuse>("c").size(), 1u);
  EXPECT_EQ(broker.ToWorker<wire::Refuse>("w").size(), 1u);
  EXPECT_EQ(broker.core.queued(), 0u);
}

TEST(BrokerConfig, SaysEveryFaultAtOnce) {
  BrokerConfig config;
  config.max_queued = 0;
  config.heartbeat = Millis(5'000);
  config.ceilings.Set(LimitId::kTimeoutMs, SpecOf(LimitId::kTimeoutMs).hard_maximum + 1);
  const auto valid = config.Validate();
  ASSERT_FALSE(valid);
  for (const char* field : {"max_queued", "peer_timeout", "timeoutMs"}) {
    EXPECT_NE(valid.error().message.find(field), std::string::npos) << field;
  }
  EXPECT_TRUE(BrokerConfig().Validate());
}

// Its cell is down for a moment, and the broker was restarted in it.
TEST(WorkerWithoutSlots, IsWelcomeAndGetsJobsOnceItHasCredit) {
  CoreHarness broker;
  broker.ConnectWorker("w", 0);
  broker.ConnectClient("c", "s");
  broker.Submit("c", "a");
  EXPECT_EQ(broker.ToWorker<wire::Welcome>("w").size(), 1u);
  EXPECT_TRUE(broker.ToWorker<wire::Dispatch>("w").empty());
  broker.Say(testing::WorkerPeer("w"), wire::Credit{2, 4096});
  EXPECT_EQ(broker.ToWorker<wire::Dispatch>("w").size(), 1u);
}

TEST(WorkerThatGreetsAgain, IsToldWhetherItsLeasesAreKnown) {
  CoreHarness broker;
  broker.ConnectWorker("w1", 1, 64, "session");
  broker.ConnectWorker("w2", 1, 64, "session");
  broker.Say(testing::WorkerPeer("w2"), wire::Bye{});
  broker.ConnectWorker("w3", 1, 64, "session");
  EXPECT_FALSE(broker.ToWorker<wire::Welcome>("w1").at(0).resumed);
  EXPECT_TRUE(broker.ToWorker<wire::Welcome>("w2").at(0).resumed);
  EXPECT_FALSE(broker.ToWorker<wire::Welcome>("w3").at(0).resumed);
}

TEST(OneConnection, IsOneSessionHoweverOftenItGreets) {
  CoreHarness broker;
  for (int i = 0; i < 100; ++i) {
    broker.ConnectClient("c", "session " + std::to_string(i));
    broker.ConnectWorker("w", 1, 64, "worker " + std::to_string(i));
  }
  EXPECT_EQ(broker.core.sessions(), 1u);
  EXPECT_EQ(broker.core.workers(), 1u);
  EXPECT_EQ(broker.ToClient<wire::Refuse>("c").size(), 99u);
  EXPECT_EQ(broker.ToWorker<wire::Refuse>("w").size(), 99u);
}

}  // namespace
}  // namespace skerry::broker
