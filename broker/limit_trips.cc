#include "broker/limit_trips.h"

#include <bitset>
#include <optional>

#include "broker/spec_limits.h"

namespace skerry::broker {

void CountFinal(const wire::Final& final, const JobSpec& spec, BrokerCounters& counters) {
  if (final.ok) {
    ++counters.finished_ok;
  } else {
    ++counters.finished_error[static_cast<std::size_t>(final.code)];
  }
  std::bitset<kLimitCount> tripped;
  if (!final.ok && !final.limit.empty()) {
    if (const auto id = LimitByName(final.limit)) tripped.set(static_cast<std::size_t>(*id));
  }
  if (final.usage.dropped_events > 0) {
    // The final says how many were dropped, not which: a kind whose events reached its cap is the one.
    const bool status = final.usage.status_events >= LimitOf(spec, LimitId::kMaxStatusEvents);
    const bool console = final.usage.console_events >= LimitOf(spec, LimitId::kMaxConsoleEvents);
    if (status) tripped.set(static_cast<std::size_t>(LimitId::kMaxStatusEvents));
    if (console) tripped.set(static_cast<std::size_t>(LimitId::kMaxConsoleEvents));
    if (!status && !console) tripped.set(static_cast<std::size_t>(LimitId::kMaxEventsTotalBytes));
  }
  for (std::size_t i = 0; i < kLimitCount; ++i) {
    if (tripped.test(i)) ++counters.limit_trips[i];
  }
}

}  // namespace skerry::broker
