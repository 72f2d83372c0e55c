// Clients and workers of earlier releases, and of later ones, at this broker: each works within what it
// knows, or is told what to upgrade. (The other way round: clients/cpp/version_skew_test.cc,
// clients/cpp/client_programs_test.cc, worker/agent/worker_test.cc.)
#include "broker/testing/core_harness.h"

namespace skerry::broker {
namespace {

using testing::ClientPeer;
using testing::CoreHarness;
using testing::WorkerPeer;

/// The newest that this broker does not speak any more, were there one, and the oldest to come.
constexpr std::uint32_t kTooNew = wire::kVersion + 1;

wire::Hello Old(wire::Role role, const std::string& session) {
  wire::Hello hello;  // no capabilities, no libraries, no host: the first release's
  hello.role = role;
  hello.session = SessionId(session);
  if (role == wire::Role::kWorker) {
    hello.slots = 1;
    hello.memory_mb = 4'096;
  }
  return hello;
}

TEST(VersionSkew, AnOldClientAndAnOldWorkerRunAJobThroughThisBroker) {
  CoreHarness broker;
  broker.Say(ClientPeer("c"), Old(wire::Role::kClient, "s"));
  broker.Say(WorkerPeer("w"), Old(wire::Role::kWorker, "w"));
  EXPECT_TRUE(broker.ToClient<wire::Welcome>("c").at(0).capabilities.empty());
  EXPECT_TRUE(broker.ToWorker<wire::Welcome>("w").at(0).capabilities.empty());
  broker.Submit("c", "a");
  EXPECT_EQ(broker.ToClient<wire::Accepted>("c").size(), 1u) << "it is not quiet";
  broker.FinishOk(WorkerPeer("w"), broker.LastLease("w"));
  EXPECT_TRUE(broker.OnlyFinal("c").ok);
}

TEST(VersionSkew, APeerThatSpeaksOnlyLaterVersionsIsRefusedWithBothRangesOnEitherSide) {
  CoreHarness broker;
  for (const wire::Role role : {wire::Role::kClient, wire::Role::kWorker}) {
    wire::Hello hello = Old(role, "s");
    hello.version = kTooNew + 1;
    hello.oldest_version = kTooNew;
    const Peer peer = role == wire::Role::kClient ? ClientPeer("p") : WorkerPeer("p");
    broker.Say(peer, hello);
    const auto refusals = broker.Sent<wire::Refuse>(peer);
    ASSERT_EQ(refusals.size(), 1u);
    EXPECT_EQ(refusals[0].reason, "this " + std::string(wire::NameOf(role)) + " speaks wire versions " +
                                      std::to_string(kTooNew) + " to " + std::to_string(kTooNew + 1) +
                                      ", this broker 1 to 1: upgrade the broker");
  }
  EXPECT_EQ(broker.core.sessions(), 0u);
  EXPECT_EQ(broker.core.workers(), 0u);
}

TEST(VersionSkew, ALaterPeerThatSpeaksThisVersionTooIsWelcomeAndItsLaterCapabilitiesAreLeftOut) {
  CoreHarness broker;
  wire::Hello hello = Old(wire::Role::kWorker, "w");
  hello.version = kTooNew;
  hello.capabilities = {"stats", "telepathy"};
  broker.Say(WorkerPeer("w"), hello);
  const auto welcome = broker.ToWorker<wire::Welcome>("w").at(0);
  EXPECT_EQ(welcome.version, wire::kVersion);
  EXPECT_EQ(welcome.capabilities, std::vector<std::string>{"stats"});
}

/// What a job asks for that an old worker would pass over.
struct Wish {
  const char* name;
  void (*ask)(JobSpec& spec);
  const char* told;
};
constexpr Wish kWishes[] = {
    {"seed", [](JobSpec& spec) { spec.seed = 7; }, "knows seed, clock and receipt: upgrade its workers"},
    {"clock", [](JobSpec& spec) { spec.clock_ms = 7; }, "knows seed, clock and receipt: upgrade its workers"},
    {"receipt", [](JobSpec& spec) { spec.receipt = true; },
     "knows seed, clock and receipt: upgrade its workers"},
    {"encoding", [](JobSpec& spec) { spec.encoding = Encoding::kMsgpack; },
     "knows libraries and encoding: upgrade its workers"},
    {"libraries", [](JobSpec& spec) { spec.libraries = {"lodash"}; },
     "library 'lodash' is not known to this pool"},
};

TEST(VersionSkew, WhatAnOldWorkerWouldPassOverIsRefusedWithWhatToUpgrade) {
  for (const Wish& wish : kWishes) {
    CoreHarness broker;
    broker.ConnectClient("c", "s");
    broker.Say(WorkerPeer("w"), Old(wire::Role::kWorker, "w"));
    JobSpec spec = CoreHarness::Spec("a");
    wish.ask(spec);
    broker.Submit("c", std::move(spec));
    EXPECT_TRUE(broker.ToWorker<wire::Dispatch>("w").empty()) << wish.name;
    EXPECT_FALSE(broker.OnlyFinal("c").ok) << wish.name;
    EXPECT_NE(broker.MessageOfLast("c").find(wish.told), std::string::npos)
        << wish.name << ": " << broker.MessageOfLast("c");
  }
}

TEST(VersionSkew, AJobThatWaitedForAWorkerIsToldWhenAnOldOneComes) {
  for (const Wish& wish : kWishes) {
    CoreHarness broker;
    broker.ConnectClient("c", "s");
    JobSpec spec = CoreHarness::Spec("a");
    wish.ask(spec);
    broker.Submit("c", std::move(spec));
    EXPECT_TRUE(broker.ToClient<wire::Final>("c").empty()) << wish.name;
    broker.Say(WorkerPeer("w"), Old(wire::Role::kWorker, "w"));
    EXPECT_TRUE(broker.ToWorker<wire::Dispatch>("w").empty()) << wish.name;
    EXPECT_NE(broker.MessageOfLast("c").find(wish.told), std::string::npos)
        << wish.name << ": " << broker.MessageOfLast("c");
  }
}

TEST(VersionSkew, BesideANewWorkerAnOldOneGetsWhatItKnows) {
  CoreHarness broker;
  broker.ConnectClient("c", "s");
  broker.Say(WorkerPeer("old"), Old(wire::Role::kWorker, "old"));
  broker.ConnectWorker("new", 8, 4'096, "new", {}, {"reproducible", "programs"});
  for (int i = 0; i < 4; ++i) {
    JobSpec spec = CoreHarness::Spec(std::to_string(i));
    spec.seed = 7;
    broker.Submit("c", std::move(spec));
  }
  broker.Submit("c", "plain");
  EXPECT_EQ(broker.ToWorker<wire::Dispatch>("new").size(), 4u);
  ASSERT_EQ(broker.ToWorker<wire::Dispatch>("old").size(), 1u) << "the least loaded one";
  EXPECT_EQ(broker.ToWorker<wire::Dispatch>("old")[0].job.id.str(), "plain");
}

TEST(VersionSkew, ToAnOldWorkerAProgramIsAJobWithItsCodeEachTime) {
  CoreHarness broker;
  broker.ConnectClient("c", "s");
  broker.Say(WorkerPeer("w"), Old(wire::Role::kWorker, "w"));
  JobSpec spec = CoreHarness::Spec("a");
  spec.reuse = Reuse::kContext;
  broker.Submit("c", std::move(spec));
  const auto dispatches = broker.ToWorker<wire::Dispatch>("w");
  ASSERT_EQ(dispatches.size(), 1u);
  EXPECT_EQ(dispatches[0].job.reuse, Reuse::kNone);
  EXPECT_FALSE(dispatches[0].job.program);
}

TEST(VersionSkew, AMessageOfALaterReleaseIsPassedOver) {
  CoreHarness broker;
  broker.ConnectClient("c", "s");
  broker.core.OnUnknownType(ClientPeer("c"), broker.now);
  broker.Submit("c", "a");
  EXPECT_EQ(broker.core.queued(), 1u);
  EXPECT_EQ(broker.core.counters().unknown_messages, 1u);
}

}  // namespace
}  // namespace skerry::broker
