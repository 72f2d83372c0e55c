#include "broker/rate_limit.h"

#include <algorithm>
#include <chrono>

namespace skerry::broker {
namespace {

std::chrono::nanoseconds Each(const Rate& rate) {
  return std::chrono::nanoseconds(1'000'000'000 / rate.per_second);
}

}  // namespace

std::optional<Millis> RateLimiter::WaitOf(const std::string& name, const Rate& rate, TimePoint now) const {
  if (rate.per_second == 0) return std::nullopt;
  const auto found = places_.find(name);
  if (found == places_.end()) return std::nullopt;
  const TimePoint from = found->second->due - static_cast<std::int64_t>(rate.burst - 1) * Each(rate);
  if (from <= now) return std::nullopt;
  return std::chrono::ceil<Millis>(from - now);
}

void RateLimiter::Take(const std::string& name, const Rate& rate, TimePoint now) {
  if (rate.per_second == 0) return;
  auto found = places_.find(name);
  if (found == places_.end()) {
    const auto place = order_.insert(order_.end(), Entry{name, now});
    found = places_.emplace(place->name, place).first;
    if (order_.size() > kMaxNames) {
      places_.erase(order_.front().name);
      order_.pop_front();
    }
  } else {
    order_.splice(order_.end(), order_, found->second);
  }
  Entry& entry = *found->second;
  entry.due = std::max(entry.due, now) + Each(rate);
}

}  // namespace skerry::broker
