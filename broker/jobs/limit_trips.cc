#include "broker/jobs/limit_trips.h"

#include <algorithm>

namespace skerry::broker {
namespace {

// A worker's figures are its word: none may distort a sum for good.
constexpr double kMostMillis = 1e9;
constexpr std::uint64_t kMostDropped = std::uint64_t{1} << 40;

void CountTrips(const wire::Final& final, BrokerCounters& counters) {
  const LimitSet tripped = TripsOf(final);
  if (const auto id = final.ok ? std::nullopt : PoolLimitByName(final.limit))
    ++counters.pool_limit_trips[static_cast<std::size_t>(*id)];
  for (const LimitSpec& limit : kLimitSpecs) {
    if (tripped.Has(limit.id)) ++counters.limit_trips[static_cast<std::size_t>(limit.id)];
  }
}

}  // namespace

LimitSet TripsOf(const wire::Final& final) {
  LimitSet tripped = final.usage.tripped;
  if (const auto id = final.ok ? std::nullopt : LimitByName(final.limit)) tripped.Add(*id);
  return tripped;
}

Micros PlausibleTime(double millis) {
  return Micros(static_cast<std::int64_t>(std::clamp(millis, 0.0, kMostMillis) * 1000));
}

void CountFinal(const wire::Final& final, BrokerCounters& counters) {
  if (final.ok) {
    ++counters.finished_ok;
  } else {
    ++counters.finished_error[static_cast<std::size_t>(final.code)];
    ++counters.failed[static_cast<std::size_t>(final.fault)];
  }
  counters.dropped_by_limit += std::min(final.usage.dropped_events, kMostDropped);
  if (final.started && final.usage.wall_ms > 0) {
    counters.run_times.Observe(PlausibleTime(final.usage.wall_ms));
    counters.cpu_times.Observe(PlausibleTime(final.usage.cpu_ms));
  }
  CountTrips(final, counters);
}

}  // namespace skerry::broker
