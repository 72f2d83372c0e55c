// Slow readers and clients that vanish: bounded memory, nobody else held up, no final forgotten.
#include "broker/sessions/flow_control.h"

#include "broker/testing/core_harness.h"

namespace skerry::broker {
namespace {

using testing::ClientPeer;
using testing::CoreHarness;
using testing::WorkerPeer;

std::vector<std::string> Ids(const std::vector<wire::Dispatch>& dispatches) {
  std::vector<std::string> ids;
  for (const auto& dispatch : dispatches) ids.push_back(dispatch.job.id.str());
  return ids;
}

TEST(FlowControl, ASessionPastItsUnacknowledgedFinalsWaitsUntilItAcknowledgesAndNoFinalIsForgotten) {
  BrokerConfig config;
  config.max_unacked_finals = 2;
  CoreHarness broker(config);
  broker.ConnectClient("slow", "s1");
  broker.ConnectClient("other", "s2");
  for (const char* id : {"a", "b", "x"}) broker.Submit("slow", id);
  broker.Submit("other", "o");
  broker.ConnectWorker("w", 1);
  for (int i = 0; i < 3; ++i) broker.FinishOk(WorkerPeer("w"), broker.LastLease("w"));
  EXPECT_EQ(Ids(broker.ToWorker<wire::Dispatch>("w")), (std::vector<std::string>{"a", "b", "o"}));
  EXPECT_EQ(broker.core.queued(), 1u);
  broker.Clear();
  broker.ConnectClient("slow2", "s1");
  EXPECT_EQ(broker.ToClient<wire::Final>("slow2").size(), 2u);
  broker.Say(ClientPeer("slow2"), wire::Ack{{"a"}});
  EXPECT_EQ(Ids(broker.ToWorker<wire::Dispatch>("w")), (std::vector<std::string>{"x"}));
}

TEST(FlowControl, ASubmitOfASessionPastItsBoundIsOverloadedWithRetryAfter) {
  BrokerConfig config;
  config.max_unacked_finals = 1;
  CoreHarness broker(config);
  broker.ConnectClient("c", "s");
  broker.ConnectWorker("w", 1);
  broker.Submit("c", "a");
  broker.FinishOk(WorkerPeer("w"), broker.LastLease("w"));
  broker.Clear();
  broker.Submit("c", "b");
  EXPECT_EQ(broker.OnlyFinal("c").code, Code::kOverloaded);
  EXPECT_GT(broker.OnlyFinal("c").retry_after_ms, 0u);
}

TEST(FlowControl, ASessionPastItsBytesWaitsWhileAnothersJobsPassIt) {
  BrokerConfig config;
  config.max_unacked_bytes = Bytes::KiB(100);
  CoreHarness broker(config);
  broker.ConnectClient("slow", "s1");
  broker.ConnectClient("other", "s2");
  broker.ConnectWorker("w", 1);
  for (const char* id : {"a", "b"}) broker.Submit("slow", id);
  broker.Submit("other", "o");
  broker.FinishOk(WorkerPeer("w"), broker.LastLease("w"), std::string(200 * 1024, '1'));
  EXPECT_EQ(Ids(broker.ToWorker<wire::Dispatch>("w")), (std::vector<std::string>{"a", "o"}));
  broker.Say(ClientPeer("slow"), wire::Ack{{"a"}});
  broker.FinishOk(WorkerPeer("w"), broker.LastLease("w"));
  EXPECT_EQ(Ids(broker.ToWorker<wire::Dispatch>("w")), (std::vector<std::string>{"a", "o", "b"}));
}

TEST(FlowControl, OverAllSessionsTheLargestAreHeldBackFirst) {
  BrokerConfig config;
  config.max_held_bytes = Bytes::MiB(1);
  CoreHarness broker(config);
  broker.ConnectClient("large", "s1");
  broker.ConnectClient("small", "s2");
  broker.ConnectWorker("w", 1);
  const auto run = [&](const std::string& client, const std::string& id, std::size_t bytes) {
    broker.Clear();
    broker.Submit(client, id);
    const auto dispatches = broker.ToWorker<wire::Dispatch>("w");
    if (dispatches.empty()) return false;
    broker.FinishOk(WorkerPeer("w"), dispatches[0].lease, std::string(bytes, '1'));
    return true;
  };
  EXPECT_TRUE(run("small", "s1", 100 * 1024));
  EXPECT_TRUE(run("large", "l1", 1024 * 1024));
  EXPECT_FALSE(run("large", "l2", 1)) << "over its half while the sum is over its bound";
  EXPECT_TRUE(run("small", "s2", 1)) << "below its half";
  broker.Clear();
  broker.Say(ClientPeer("large"), wire::Ack{{"l1"}});
  EXPECT_EQ(Ids(broker.ToWorker<wire::Dispatch>("w")), (std::vector<std::string>{"l2"}));
}

TEST(FlowControl, ASlowReadersFinalsAreSentAsItReads) {
  BrokerConfig config;
  config.client_window = Bytes::KiB(64);
  CoreHarness broker(config);
  broker.ConnectClient("c", "s");
  broker.ConnectWorker("w", 10);
  for (int i = 0; i < 10; ++i) broker.Submit("c", "j" + std::to_string(i));
  for (const auto& dispatch : broker.ToWorker<wire::Dispatch>("w"))
    broker.FinishOk(WorkerPeer("w"), dispatch.lease, std::string(30 * 1024, '1'));
  EXPECT_EQ(broker.ToClient<wire::Final>("c").size(), 2u);
  for (int reads = 0; reads < 5; ++reads) broker.Read("c");
  EXPECT_EQ(broker.ToClient<wire::Final>("c").size(), 10u);
}

TEST(FlowControl, EventsToASlowLinkedReaderAreBoundedInBytesAndCountedPastThem) {
  BrokerConfig config;
  config.client_window = Bytes::KiB(64);
  config.max_backlog_bytes = Bytes::KiB(64);
  CoreHarness broker(config);
  broker.ConnectClient("c", "s");
  broker.ConnectWorker("w", 1);
  broker.Submit("c", "a");
  wire::Event event;
  event.lease = broker.LastLease("w");
  for (int i = 0; i < 100; ++i) broker.Say(WorkerPeer("w"), event, {std::string(10 * 1024, 'x')});
  EXPECT_LE(broker.core.held_bytes(), 2 * 64u * 1024);
  EXPECT_LE(broker.ToClient<wire::Event>("c").size(), 6u);
  broker.FinishOk(WorkerPeer("w"), event.lease);
  for (int reads = 0; reads < 5; ++reads) broker.Read("c");
  const auto got = broker.ToClient<wire::Event>("c").size();
  EXPECT_EQ(broker.OnlyFinal("c").usage.dropped_events, 100 - got);
  EXPECT_EQ(broker.core.counters().dropped_events, 100 - got);
}

TEST(FlowControl, AClientThatReadsNoRefusalIsPutAwayRatherThanKeptFor) {
  BrokerConfig config;
  config.client_window = Bytes::KiB(64);
  config.max_backlog_bytes = Bytes::KiB(64);
  CoreHarness broker(config);
  broker.ConnectClient("c", "s");
  for (int i = 0; i < 10'000; ++i) {
    JobSpec spec = CoreHarness::Spec("j" + std::to_string(i));
    spec.priority = 1'000;
    broker.Submit("c", spec);
  }
  EXPECT_LT(broker.ToClient<wire::Final>("c").size(), 200u);
  EXPECT_GT(broker.ToClient<wire::Bye>("c").size(), 0u);
}

// Its PONG comes when it is away already; were it lost, the client would be put away after each HELLO for
// ever.
TEST(FlowControl, WhatAClientReadBeforeItHeardThatItIsAwayIsRead) {
  BrokerConfig config;
  config.client_window = Bytes::KiB(64);
  config.max_backlog_bytes = Bytes::KiB(64);
  CoreHarness broker(config);
  broker.ConnectClient("c", "s");
  JobSpec refused = CoreHarness::Spec("j");
  refused.priority = 1'000;
  for (int i = 0; broker.ToClient<wire::Bye>("c").empty(); ++i) {
    ASSERT_LT(i, 10'000);
    refused.id = JobId("j" + std::to_string(i));
    broker.Submit("c", refused);
  }
  broker.Read("c");
  broker.Clear();
  broker.ConnectClient("c", "s");
  EXPECT_GT(broker.ToClient<wire::Final>("c").size(), 0u) << "there is room in its window";
  refused.id = JobId("one more");
  broker.Submit("c", refused);
  EXPECT_TRUE(broker.ToClient<wire::Bye>("c").empty());
}

TEST(FlowControl, TheSameJobAskedForOverAndOverFillsNoMoreThanTheWindow) {
  CoreHarness broker;
  broker.ConnectClient("c", "s");
  broker.ConnectWorker("w", 1);
  broker.Submit("c", "a");
  broker.FinishOk(WorkerPeer("w"), broker.LastLease("w"), std::string(100'000, '1'));
  for (int i = 0; i < 1'000; ++i) broker.Submit("c", "a");
  EXPECT_LE(broker.ToClient<wire::Final>("c").size() * 100'000, BrokerConfig().client_window.count());
  broker.Read("c");
  broker.Clear();
  broker.Read("c");
  EXPECT_LE(broker.ToClient<wire::Final>("c").size(), 1u) << "at most one more waited";
}

TEST(FlowControl, GreetingAgainOnTheSameLinkOpensNoWindow) {
  CoreHarness broker;
  broker.ConnectClient("c", "s");
  broker.ConnectWorker("w", 1);
  std::uint64_t sent = 0;
  for (int i = 0; i < 100; ++i) {
    const std::string id = "j" + std::to_string(i);
    broker.Submit("c", id);
    if (!broker.ToWorker<wire::Dispatch>("w").empty())
      broker.FinishOk(WorkerPeer("w"), broker.LastLease("w"), std::string(1 << 20, '1'));
    sent += broker.ToClient<wire::Final>("c").size() << 20;
    broker.Clear();
    // It has read nothing, says that it has dealt with all, and greets again.
    broker.Say(ClientPeer("c"), wire::Ack{{id}});
    broker.ConnectClient("c", "s");
  }
  EXPECT_LE(sent, BrokerConfig().client_window.count() + (2u << 20));
}

TEST(FlowControl, AFinalIsNotTakenForAnEarlierOneOfItsIdThatIsStillOnItsWay) {
  BrokerConfig config;
  config.max_queued = 1;
  CoreHarness broker(config);
  broker.ConnectClient("c", "s");
  broker.Submit("c", "first");
  broker.Submit("c", "a");  // OVERLOADED
  broker.ConnectWorker("w", 1);
  broker.FinishOk(WorkerPeer("w"), broker.LastLease("w"));
  broker.Submit("c", "a");
  broker.FinishOk(WorkerPeer("w"), broker.LastLease("w"));
  broker.Say(ClientPeer("c"), wire::Ack{{"a"}});
  broker.Submit("c", "a");  // another job
  broker.FinishOk(WorkerPeer("w"), broker.LastLease("w"));
  EXPECT_EQ(broker.ToClient<wire::Final>("c").size(), 4u);
}

TEST(FlowControl, AClientThatVanishesWithTenThousandJobsFreesEverythingAfterItsTime) {
  BrokerConfig config;
  config.client_credit = 10'000;
  CoreHarness broker(config);
  broker.ConnectClient("c", "s");
  broker.ConnectWorker("w", 4);
  for (int i = 0; i < 10'000; ++i) broker.Submit("c", "j" + std::to_string(i));
  EXPECT_EQ(broker.core.queued(), 9'996u);
  wire::Event event;
  event.lease = broker.LastLease("w");
  broker.Say(WorkerPeer("w"), event, {"x"});
  broker.Pass(Millis(41'000), {WorkerPeer("w")});
  EXPECT_EQ(broker.core.queued(), 0u);
  EXPECT_EQ(broker.core.queued_bytes(), 0u);
  EXPECT_EQ(broker.core.held_bytes(), 0u);
  EXPECT_EQ(broker.core.sessions(), 0u);
  for (const auto& cancel : broker.ToWorker<wire::Cancel>("w"))
    broker.FinishOk(WorkerPeer("w"), cancel.lease);
  EXPECT_EQ(broker.core.running(), 0u);
}

TEST(FlowControl, AJobThatWaitsForMemoryIsPassedBySmallerOnesOfOthersForAWhileOnly) {
  CoreHarness broker;
  broker.ConnectClient("large", "s1");
  broker.ConnectClient("small", "s2");
  broker.ConnectWorker("w", 8, 1024);
  const auto submit = [&](const std::string& client, const std::string& id, std::uint64_t memory_mb) {
    JobSpec spec = CoreHarness::Spec(id);
    spec.limits = {{"memoryMb", memory_mb}};
    broker.Submit(client, spec);
  };
  submit("small", "first", 512);
  submit("large", "large", 1024);
  submit("small", "passes", 128);
  EXPECT_EQ(Ids(broker.ToWorker<wire::Dispatch>("w")), (std::vector<std::string>{"first", "passes"}));
  submit("large", "behind", 128);
  EXPECT_EQ(broker.core.queued(), 2u) << "a session's own jobs keep their order";
  broker.Pass(Millis(2'000), {ClientPeer("large"), ClientPeer("small"), WorkerPeer("w")});
  submit("small", "too late", 128);
  EXPECT_EQ(broker.core.queued(), 3u) << "the large job is not starved";
  for (const auto& dispatch : broker.ToWorker<wire::Dispatch>("w"))
    broker.FinishOk(WorkerPeer("w"), dispatch.lease);
  EXPECT_EQ(Ids(broker.ToWorker<wire::Dispatch>("w")).at(2), "large");
}

}  // namespace
}  // namespace skerry::broker
