#include "clients/cpp/rate_pace.h"

#include <algorithm>
#include <chrono>

#include "common/pool_limits.h"

namespace skerry::client {
namespace {

// Waits are told in whole milliseconds: of rates past 1,000 a second nothing more is known than that they
// are.
constexpr auto kShortestGap = std::chrono::microseconds(50);

std::chrono::microseconds GapOf(Millis wait) {
  return wait > Millis(1) ? std::chrono::microseconds(wait) : kShortestGap;
}

}  // namespace

bool WaitsForRate(Code code, std::string_view limit, std::uint32_t retry_after_ms) {
  if (code != Code::kRateLimited || retry_after_ms == 0) return false;
  return limit == NameOf(PoolLimit::kRate) || limit == NameOf(PoolLimit::kUserRate);
}

TimePoint RatePace::DueOf(const std::string& who, Millis wait, TimePoint now) {
  if (last_.size() >= forget_at_) ForgetPast(now);
  TimePoint& last = last_[who];
  last = std::max(now + wait, last + GapOf(wait));
  return last;
}

void RatePace::ForgetPast(TimePoint now) {
  std::erase_if(last_, [&](const auto& entry) { return entry.second <= now; });
  forget_at_ = std::max<std::size_t>(64, 2 * last_.size());
}

}  // namespace skerry::client
