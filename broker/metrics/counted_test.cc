// Each metric of the broker is moved by what causes it, by exactly so much, and by nothing else: what every
// case (testing/counted_cases.h) does is compared with the whole page.
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "broker/metrics/metrics.h"
#include "broker/testing/counted_cases.h"
#include "common/wire/stats.h"

namespace skerry::broker {
namespace {

using namespace skerry::broker::testing;

/// Every series of the page that is not zero, but for the process's own and histograms' buckets and sums.
Moved ShownBy(const BrokerCore& core) {
  Metrics metrics;
  metrics.Show(core.counters(), core.gauges());
  Moved moved;
  std::istringstream page(metrics.Text());
  for (std::string line; std::getline(page, line);) {
    const std::size_t space = line.rfind(' ');
    const std::string series = line.substr(0, space);
    const std::string name = series.substr(0, series.find('{'));
    if (!line.starts_with("skerry_") || name == "skerry_build_info" || name.ends_with("_bucket") ||
        name.ends_with("_seconds_sum")) {
      continue;
    }
    const double value = std::stod(line.substr(space + 1));
    if (value != 0) moved[series] = value;
  }
  return moved;
}

std::vector<CountedCase> AllCases() {
  std::vector<CountedCase> all = JobCases();
  for (auto&& more : {RejectionCases(), RelayCases(), PeerCases(), ProgramCases(), TenantCases()})
    all.insert(all.end(), more.begin(), more.end());
  return all;
}

TEST(Counted, EachCauseMovesItsMetricsByExactlySoMuchAndNoOther) {
  for (const CountedCase& one : AllCases()) {
    CoreHarness broker(Small());
    one.cause(broker);
    EXPECT_EQ(ShownBy(broker.core), one.expected) << one.what;
  }
}

// Away clients and too many peers need the clock, or many of them.
TEST(Counted, AClientThatIsAwayIsShownWithItsBacklogAndWhatIsNotKept) {
  CoreHarness broker(Small());
  Peers(broker);
  broker.Submit("c", "a");
  broker.core.OnMalformed(ClientPeer("c"), "puts it away", broker.now);
  for (int i = 0; i < 4; ++i) SayEvent(broker, EventType::kConsole, std::string(1'000, 'x'));
  const Moved moved = ShownBy(broker.core);
  EXPECT_EQ(moved.at("skerry_sessions_away"), 1);
  EXPECT_GT(moved.at("skerry_backlog_bytes"), 1'000);
  EXPECT_EQ(moved.at("skerry_backlog_dropped_total"),
            moved.at("skerry_events_dropped_total{cause=\"client_away\"}"));
  EXPECT_EQ(
      moved.at("skerry_backlog_dropped_total") + moved.at("skerry_events_relayed_total{type=\"console\"}"),
      4);
  EXPECT_EQ(moved.count("skerry_events_dropped_total{cause=\"limit\"}"), 0u);
  EXPECT_EQ(moved.count("skerry_limit_trips_total{limit=\"maxEventsTotalBytes\"}"), 0u);
}

TEST(Counted, WhatAClientsAbsenceDroppedIsNoLimitsTrip) {
  CoreHarness broker(Small());
  Peers(broker);
  broker.Submit("c", "a");
  const LeaseId lease = broker.LastLease("w");
  broker.core.OnMalformed(ClientPeer("c"), "puts it away", broker.now);
  for (int i = 0; i < 4; ++i) SayEvent(broker, EventType::kConsole, std::string(1'000, 'x'));
  broker.FinishOk(WorkerPeer("w"), lease);
  for (const auto& [series, value] : ShownBy(broker.core))
    EXPECT_FALSE(series.starts_with("skerry_limit_trips_total")) << series;
}

TEST(Counted, ClientsPastTheBoundAreCountedAsRefused) {
  BrokerConfig config = Small();
  config.max_peers = 1;
  CoreHarness broker(config);
  broker.ConnectClient("a", "1");
  broker.ConnectClient("b", "2");
  EXPECT_EQ(ShownBy(broker.core),
            (Moved{{"skerry_sessions", 1}, {"skerry_peers_refused_total{reason=\"too_many\"}", 1}}));
}

TEST(Counted, AWorkerThatComesBackGoesOnAndOneThatIsNewStartsAnew) {
  CoreHarness broker;
  wire::Hello hello = HelloOf(wire::Role::kWorker, "w1");
  hello.capabilities = {"stats"};
  broker.Say(WorkerPeer("w"), hello);
  EXPECT_EQ(broker.ToWorker<wire::Welcome>("w").back().capabilities, std::vector<std::string>{"stats"});
  EXPECT_FALSE(broker.ToWorker<wire::Welcome>("w").back().resumed);
  WorkerStats figures;
  figures.reruns = 5;
  broker.Say(WorkerPeer("w"), wire::ToStats(figures));
  broker.Say(WorkerPeer("w again"), hello);
  EXPECT_TRUE(broker.ToWorker<wire::Welcome>("w again").back().resumed);
  figures.reruns = 6;
  broker.Say(WorkerPeer("w again"), wire::ToStats(figures));
  EXPECT_EQ(broker.core.counters().workers.reruns, 6u);
  broker.Say(WorkerPeer("w again"), wire::Bye{});
  broker.Say(WorkerPeer("w"), hello);
  EXPECT_FALSE(broker.ToWorker<wire::Welcome>("w").back().resumed);
  figures.reruns = 1;
  broker.Say(WorkerPeer("w"), wire::ToStats(figures));
  EXPECT_EQ(broker.core.counters().workers.reruns, 7u);
  EXPECT_EQ(broker.core.counters().workers_cut_off, 0u);
}

TEST(Counted, AWorkerThatDoesNotAskForStatsIsNotAskedForThem) {
  CoreHarness broker;
  broker.Say(WorkerPeer("w"), HelloOf(wire::Role::kWorker, "w1"));
  EXPECT_TRUE(broker.ToWorker<wire::Welcome>("w").back().capabilities.empty());
}

// With the tests above, no metric of the golden file is left that no test moves.
TEST(Counted, EveryMetricIsMovedBySomeCase) {
  std::set<std::string> moved = {"skerry_build_info", "skerry_sessions_away", "skerry_backlog_bytes",
                                 "skerry_backlog_dropped_total", "skerry_late_messages_total"};
  for (const CountedCase& one : AllCases()) {
    for (const auto& [series, value] : one.expected) {
      std::string name = series.substr(0, series.find('{'));
      if (name.ends_with("_seconds_count")) name.resize(name.size() - 6);
      moved.insert(name);
    }
  }
  std::ifstream golden(SKERRY_SOURCE_DIR "/broker/metrics/metrics_golden.txt");
  std::size_t metrics = 0;
  for (std::string line; std::getline(golden, line); ++metrics) {
    const std::string name = line.substr(0, line.find(' '));
    EXPECT_TRUE(name.starts_with("process_") || moved.contains(name)) << name;
  }
  EXPECT_GT(metrics, 40u);
}

}  // namespace
}  // namespace skerry::broker
