#include "broker/tenants/rate_limit.h"

#include <algorithm>

namespace skerry::broker {

std::chrono::nanoseconds Interval(const Rate& rate) {
  return std::chrono::nanoseconds(1'000'000'000 * rate.brokers / rate.per_second);
}

std::uint64_t BurstOf(const Rate& rate) {
  return std::max<std::uint64_t>(1, rate.burst / rate.brokers);
}

std::optional<Millis> RateLimiter::WaitOf(const std::string& name, const Rate& rate, TimePoint now) const {
  if (rate.per_second == 0) return std::nullopt;
  const auto found = places_.find(name);
  if (found == places_.end()) return std::nullopt;
  const TimePoint from = found->second->due - static_cast<std::int64_t>(BurstOf(rate) - 1) * Interval(rate);
  if (from <= now) return std::nullopt;
  return std::chrono::ceil<Millis>(from - now);
}

RateLimiter::Entry& RateLimiter::Touch(const std::string& name, TimePoint now) {
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
  return *found->second;
}

void RateLimiter::Take(const std::string& name, const Rate& rate, TimePoint now) {
  if (rate.per_second == 0) return;
  Entry& entry = Touch(name, now);
  entry.due = std::max(entry.due, now) + Interval(rate);
}

void RateLimiter::Note(const std::string& name, const Rate& rate, TimePoint now) {
  if (rate.per_second == 0) return;
  Entry& entry = Touch(name, now);
  const TimePoint latest = now + static_cast<std::int64_t>(BurstOf(rate)) * Interval(rate);
  entry.due = std::min(std::max(entry.due, now) + Interval(rate), latest);
}

}  // namespace skerry::broker
