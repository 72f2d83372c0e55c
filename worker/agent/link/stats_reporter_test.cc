#include "worker/agent/link/stats_reporter.h"

#include <gtest/gtest.h>

#include "common/wire/stats.h"

namespace skerry::agent {
namespace {

wire::Welcome From(std::vector<std::string> capabilities, bool resumed = false) {
  wire::Welcome welcome;
  welcome.capabilities = std::move(capabilities);
  welcome.resumed = resumed;
  return welcome;
}

std::uint64_t Finished(const std::optional<wire::Stats>& stats) {
  return wire::FromStats(stats.value()).exits[static_cast<std::size_t>(IsolateExit::kFinished)];
}

TEST(StatsReporter, TellsNothingToABrokerThatDoesNotAskForIt) {
  StatsReporter reporter;
  WorkerStats figures;
  EXPECT_FALSE(reporter.Report(figures));
  reporter.OnWelcome(From({"something else"}));
  EXPECT_FALSE(reporter.Report(figures));
}

TEST(StatsReporter, TellsWhatIsNewOnceAndCumulative) {
  StatsReporter reporter;
  reporter.OnWelcome(From({"stats"}));
  WorkerStats figures;
  figures.Count(IsolateExit::kFinished);
  EXPECT_EQ(Finished(reporter.Report(figures)), 1u);
  EXPECT_FALSE(reporter.Report(figures));
  figures.Count(IsolateExit::kFinished);
  EXPECT_EQ(Finished(reporter.Report(figures)), 2u);
  figures.spares = 3;
  EXPECT_EQ(reporter.Report(figures)->spares, 3u);
}

TEST(StatsReporter, GoesOnCountingForABrokerThatKnowsTheSession) {
  StatsReporter reporter;
  reporter.OnWelcome(From({"stats"}));
  WorkerStats figures;
  figures.Count(IsolateExit::kFinished);
  (void)reporter.Report(figures);
  reporter.OnWelcome(From({"stats"}, true));
  EXPECT_EQ(Finished(reporter.Report(figures)), 1u) << "it may have missed the last one";
}

TEST(StatsReporter, StartsAnewForABrokerThatDoesNot) {
  StatsReporter reporter;
  reporter.OnWelcome(From({"stats"}));
  WorkerStats figures;
  figures.Count(IsolateExit::kFinished);
  (void)reporter.Report(figures);
  figures.Count(IsolateExit::kFinished);
  figures.spares = 2;
  reporter.OnWelcome(From({"stats"}));
  const auto stats = reporter.Report(figures);
  EXPECT_EQ(Finished(stats), 1u) << "counted while no broker was there, and told to none";
  EXPECT_EQ(stats->spares, 2u);
}

}  // namespace
}  // namespace skerry::agent
