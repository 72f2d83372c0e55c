// Jobs that no worker is there for, of clients that have other brokers and of those that have none.
#include "broker/testing/core_harness.h"
#include "common/wire/negotiate.h"

namespace skerry::broker {
namespace {

using testing::ClientPeer;
using testing::CoreHarness;
using testing::WorkerPeer;

constexpr Millis kLong = JobLedger::kWithoutWorkers;

class GivenBack : public ::testing::Test {
 protected:
  GivenBack() {
    Greet("c", {std::string(wire::kSpreadsCapability), std::string(wire::kQuietCapability)});
    Greet("only", {std::string(wire::kQuietCapability)});
  }
  void Greet(const std::string& client, std::vector<std::string> capabilities) {
    wire::Hello hello;
    hello.session = SessionId("session of " + client);
    hello.capabilities = std::move(capabilities);
    broker_.Say(ClientPeer(client), hello);
  }
  void Pass(Millis time, std::vector<Peer> alive = {}) {
    alive.push_back(ClientPeer("c"));
    alive.push_back(ClientPeer("only"));
    broker_.Pass(time, alive);
  }
  void Acknowledge(const std::string& id) { broker_.Say(ClientPeer("c"), wire::Ack{{id}}); }
  std::vector<std::string> Told(const std::string& client) const {
    std::vector<std::string> ids;
    for (const auto& final : broker_.ToClient<wire::Final>(client)) ids.push_back(final.id.str());
    return ids;
  }
  CoreHarness broker_;
};

TEST_F(GivenBack, AClientThatHasOtherBrokersGetsItsJobsBackInTheirOrderWhenNoWorkerComes) {
  for (const char* id : {"a", "b", "d"}) broker_.Submit("c", id);
  broker_.Submit("only", "x");
  Pass(kLong - Millis(1));
  EXPECT_TRUE(Told("c").empty());
  Pass(Millis(1));
  const auto finals = broker_.ToClient<wire::Final>("c");
  EXPECT_EQ(Told("c"), (std::vector<std::string>{"a", "b", "d"}));
  EXPECT_EQ(finals.at(0).code, Code::kOverloaded);
  EXPECT_EQ(finals.at(0).fault, Fault::kInfrastructure);
  EXPECT_FALSE(finals.at(0).started);
  EXPECT_EQ(finals.at(0).retry_after_ms, BrokerConfig().retry_after.count());
  EXPECT_EQ(finals.at(0).limit, "") << "it is not about its tenant";
  EXPECT_EQ(broker_.MessageOfLast("c"), "no worker is connected");
  EXPECT_EQ(broker_.core.counters().refused_in_queue, 3u);
}

TEST_F(GivenBack, TheOnlyBrokerOfAClientKeepsItsJobsUntilAWorkerComes) {
  broker_.Submit("only", "x");
  Pass(Millis(60'000));
  broker_.Submit("only", "y");
  EXPECT_TRUE(Told("only").empty());
  EXPECT_EQ(broker_.core.queued(), 2u);
  broker_.ConnectWorker("w", 2);
  EXPECT_EQ(broker_.ToWorker<wire::Dispatch>("w").size(), 2u);
}

TEST_F(GivenBack, WhatComesAfterThatIsRefusedAtOnceUntilAWorkerIsThere) {
  Pass(kLong - Millis(1));
  broker_.Submit("c", "early");
  EXPECT_TRUE(Told("c").empty());
  Pass(Millis(1));
  EXPECT_EQ(Told("c"), std::vector<std::string>{"early"});
  broker_.Clear();
  broker_.Submit("c", "late");
  EXPECT_EQ(broker_.OnlyFinal("c").code, Code::kOverloaded);
  EXPECT_EQ(broker_.OnlyFinal("c").retry_after_ms, BrokerConfig().retry_after.count());
  EXPECT_EQ(broker_.MessageOfLast("c"), "no worker is connected");
  broker_.ConnectWorker("w", 1);
  broker_.Submit("c", "late");
  ASSERT_EQ(broker_.ToWorker<wire::Dispatch>("w").size(), 1u) << "its id is free";
  EXPECT_EQ(broker_.ToWorker<wire::Dispatch>("w")[0].job.id.str(), "late");
}

TEST_F(GivenBack, TheTimeCountsFromTheLastWorkerThatWasThere) {
  Pass(Millis(60'000));
  broker_.ConnectWorker("w", 1);
  broker_.Say(WorkerPeer("w"), wire::Bye{});
  broker_.Submit("c", "a");
  EXPECT_TRUE(Told("c").empty());
  Pass(kLong - Millis(1));
  EXPECT_TRUE(Told("c").empty());
  Pass(Millis(1'000));  // it looks once a heartbeat
  EXPECT_EQ(Told("c"), std::vector<std::string>{"a"});
}

TEST_F(GivenBack, AJobThatWaitsBehindOthersOfABusyWorkerIsKept) {
  broker_.ConnectWorker("w", 1);
  broker_.Submit("c", "runs");
  broker_.Submit("c", "waits");
  Pass(Millis(20'000), {WorkerPeer("w")});
  EXPECT_TRUE(Told("c").empty());
}

TEST_F(GivenBack, WhereAllWorkersAreBeingEmptiedWhatWaitsGoesAndWhatRunsStays) {
  broker_.ConnectWorker("w", 1);
  broker_.Submit("c", "runs");
  broker_.Submit("c", "waits");
  broker_.Say(WorkerPeer("w"), wire::Drain{});
  Pass(kLong + Millis(1'000), {WorkerPeer("w")});
  EXPECT_EQ(Told("c"), std::vector<std::string>{"waits"});
  EXPECT_EQ(broker_.MessageOfLast("c"), "no worker takes jobs");
}

TEST_F(GivenBack, AJobThatMayHaveBegunIsNotGivenBack) {
  broker_.ConnectWorker("w", 1);
  broker_.Submit("c", "a");
  broker_.Say(WorkerPeer("w"), wire::Bye{});
  ASSERT_EQ(broker_.core.queued(), 1u);
  Pass(Millis(20'000));
  EXPECT_TRUE(Told("c").empty());
  broker_.ConnectWorker("other", 1);
  EXPECT_EQ(broker_.ToWorker<wire::Dispatch>("other").size(), 1u);
}

TEST_F(GivenBack, OneThatIsAwayGetsItsJobsBackWhenItIsThereToTakeThemElsewhere) {
  broker_.Submit("c", "a");
  broker_.Undeliver(ClientPeer("c"), wire::Ping{});
  broker_.Pass(Millis(5'000), {ClientPeer("only")});
  EXPECT_EQ(broker_.core.queued(), 1u);
  Greet("c", {std::string(wire::kSpreadsCapability)});
  Pass(Millis(1'000));
  EXPECT_EQ(Told("c"), std::vector<std::string>{"a"});
}

TEST_F(GivenBack, OneThatIsGivenBackLeavesItsIdFreeOnceThatIsAcknowledged) {
  broker_.Submit("c", "a");
  Pass(kLong);
  ASSERT_EQ(Told("c").size(), 1u);
  Acknowledge("a");
  broker_.ConnectWorker("w", 1);
  JobSpec other = CoreHarness::Spec("a");
  other.deadline_ms = 500;
  broker_.Submit("c", std::move(other));
  EXPECT_EQ(broker_.ToWorker<wire::Dispatch>("w").size(), 1u);
}

}  // namespace
}  // namespace skerry::broker
