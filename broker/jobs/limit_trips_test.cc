#include "broker/jobs/limit_trips.h"

#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <string>

namespace skerry::broker {
namespace {

using Named = std::map<std::string, int>;

BrokerCounters Counted(const wire::Final& final) {
  BrokerCounters counters;
  CountFinal(final, counters);
  return counters;
}

/// The limits that a final trips, by name.
Named Trips(const wire::Final& final) {
  const BrokerCounters counters = Counted(final);
  Named trips;
  for (const LimitSpec& limit : kLimitSpecs) {
    const auto count = counters.limit_trips[static_cast<std::size_t>(limit.id)];
    if (count > 0) trips[std::string(limit.name)] = static_cast<int>(count);
  }
  for (std::size_t i = 0; i < kPoolLimitCount; ++i) {
    if (counters.pool_limit_trips[i] > 0)
      trips[std::string(NameOf(static_cast<PoolLimit>(i)))] = static_cast<int>(counters.pool_limit_trips[i]);
  }
  return trips;
}

wire::Final Ok(std::initializer_list<LimitId> tripped = {}) {
  wire::Final final;
  final.ok = true;
  final.started = true;
  for (const LimitId id : tripped) final.usage.tripped.Add(id);
  return final;
}
wire::Final Failed(Code code, std::string limit, std::initializer_list<LimitId> tripped = {}) {
  wire::Final final = Ok(tripped);
  final.ok = false;
  final.code = code;
  final.fault = DefaultFault(code);
  final.limit = std::move(limit);
  return final;
}

TEST(LimitTrips, EveryLimitThatCurtailedAJobCountsOnceAlsoWhenItEndedWell) {
  EXPECT_EQ(Trips(Ok()), Named{});
  EXPECT_EQ(Trips(Ok({LimitId::kMaxConsoleEvents, LimitId::kMaxEventBytes})),
            (Named{{"maxConsoleEvents", 1}, {"maxEventBytes", 1}}));
}

TEST(LimitTrips, TheLimitThatEndedAJobCountsOnceAlsoWhenItHadCurtailedItBefore) {
  EXPECT_EQ(Trips(Failed(Code::kTimeout, "timeoutMs", {LimitId::kMaxStatusEvents})),
            (Named{{"timeoutMs", 1}, {"maxStatusEvents", 1}}));
  EXPECT_EQ(Trips(Failed(Code::kLimit, "maxDataRequests", {LimitId::kMaxDataRequests})),
            (Named{{"maxDataRequests", 1}}));
}

TEST(LimitTrips, ThePoolsLimitsCountForJobsThatAreTurnedAway) {
  EXPECT_EQ(Trips(Failed(Code::kOverloaded, "maxConcurrentIsolates")), (Named{{"maxConcurrentIsolates", 1}}));
  EXPECT_EQ(Trips(Failed(Code::kOverloaded, "workerMemoryMb")), (Named{{"workerMemoryMb", 1}}));
}

TEST(LimitTrips, ANameThatNoLimitHasCountsNowhere) {
  EXPECT_EQ(Trips(Failed(Code::kTimeout, "a name no limit has")), Named{});
}

TEST(LimitTrips, DroppedEventsAloneTripNothing) {
  wire::Final final = Ok();
  final.usage.dropped_events = 7;
  EXPECT_EQ(Trips(final), Named{});
  EXPECT_EQ(Counted(final).dropped_by_limit, 7u);
}

TEST(CountFinal, CountsCodeAndFault) {
  const BrokerCounters counters = Counted(Failed(Code::kTimeout, "timeoutMs"));
  EXPECT_EQ(counters.finished_ok, 0u);
  EXPECT_EQ(counters.finished_error[static_cast<std::size_t>(Code::kTimeout)], 1u);
  EXPECT_EQ(counters.failed[static_cast<std::size_t>(Fault::kLimit)], 1u);
}

TEST(CountFinal, TimesOnlyWhatRan) {
  const auto timed = [](const TimeHistogram& times) {
    return std::accumulate(times.counts().begin(), times.counts().end(), std::uint64_t{0});
  };
  wire::Final ran = Ok();
  ran.usage.wall_ms = 1.5;
  ran.usage.cpu_ms = 0.2;
  EXPECT_EQ(timed(Counted(ran).run_times), 1u);
  EXPECT_EQ(Counted(ran).run_times.sum_us(), 1500u);
  EXPECT_EQ(Counted(ran).cpu_times.sum_us(), 200u);
  EXPECT_EQ(timed(Counted(Failed(Code::kExpired, "")).run_times), 0u);
}

TEST(CountFinal, AWorkersAbsurdFiguresDistortNoSumForGood) {
  wire::Final final = Ok();
  final.usage.wall_ms = 1e300;
  final.usage.cpu_ms = -5;
  final.usage.dropped_events = ~std::uint64_t{0};
  const BrokerCounters counters = Counted(final);
  EXPECT_EQ(counters.run_times.sum_us(), 1'000'000'000'000u);
  EXPECT_EQ(counters.cpu_times.sum_us(), 0u);
  EXPECT_EQ(counters.dropped_by_limit, std::uint64_t{1} << 40);
}

}  // namespace
}  // namespace skerry::broker
