#include "broker/limit_trips.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace skerry::broker {
namespace {

/// The limits that a final trips, by name.
std::map<std::string, int> Trips(const wire::Final& final) {
  JobSpec spec;
  spec.limits = {{"maxStatusEvents", 10}, {"maxConsoleEvents", 20}};
  BrokerCounters counters;
  CountFinal(final, spec, counters);
  std::map<std::string, int> trips;
  for (const LimitSpec& limit : kLimitSpecs) {
    const auto count = counters.limit_trips[static_cast<std::size_t>(limit.id)];
    if (count > 0) trips[std::string(limit.name)] = static_cast<int>(count);
  }
  return trips;
}

wire::Final Dropped(std::uint64_t status, std::uint64_t console, std::uint64_t dropped) {
  wire::Final final;
  final.ok = true;
  final.usage.status_events = status;
  final.usage.console_events = console;
  final.usage.dropped_events = dropped;
  return final;
}

using Named = std::map<std::string, int>;

TEST(LimitTrips, DroppedEventsCountForTheKindWhoseCapWasReached) {
  EXPECT_EQ(Trips(Dropped(10, 19, 1)), (Named{{"maxStatusEvents", 1}}));
  EXPECT_EQ(Trips(Dropped(9, 20, 500)), (Named{{"maxConsoleEvents", 1}}));
  EXPECT_EQ(Trips(Dropped(10, 20, 2)), (Named{{"maxConsoleEvents", 1}, {"maxStatusEvents", 1}}));
}

TEST(LimitTrips, DroppedEventsOfNeitherKindCountForTheirTotal) {
  EXPECT_EQ(Trips(Dropped(9, 19, 1)), (Named{{"maxEventsTotalBytes", 1}}));
}

TEST(LimitTrips, ReachingACapWithoutDroppingTripsNothing) {
  EXPECT_EQ(Trips(Dropped(10, 20, 0)), Named{});
}

TEST(LimitTrips, TheLimitThatEndedAJobCountsOnceWhateverElseItDropped) {
  wire::Final final = Dropped(10, 0, 5);
  final.ok = false;
  final.limit = "maxStatusEvents";
  EXPECT_EQ(Trips(final), (Named{{"maxStatusEvents", 1}}));
  final.limit = "a name no limit has";
  EXPECT_EQ(Trips(final), (Named{{"maxStatusEvents", 1}}));
}

}  // namespace
}  // namespace skerry::broker
