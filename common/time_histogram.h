// Durations counted by size, in buckets fixed for all of Skerry so that those of many workers can be added.
//
//   TimeHistogram times;
//   times.Observe(Micros(700));
//   times.counts()[i]      // of durations at most kBounds[i] and above kBounds[i - 1]; the last: longer ones
//
// Threads: plain data. Errors: none; a duration below zero counts as zero.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "common/units.h"

namespace skerry {

class TimeHistogram {
 public:
  /// Upper bounds. From a fork (below a millisecond) to the longest timeoutMs that is common (ten minutes).
  static constexpr std::array<Micros, 18> kBounds = {
      Micros(250),        Micros(500),        Micros(1'000),      Micros(2'500),     Micros(5'000),
      Micros(10'000),     Micros(25'000),     Micros(50'000),     Micros(100'000),   Micros(250'000),
      Micros(500'000),    Micros(1'000'000),  Micros(2'500'000),  Micros(5'000'000), Micros(10'000'000),
      Micros(30'000'000), Micros(60'000'000), Micros(600'000'000)};
  static constexpr std::size_t kBuckets = kBounds.size() + 1;  ///< the last has no bound

  static std::size_t BucketOf(Micros duration) {
    const auto* const bound = std::lower_bound(kBounds.begin(), kBounds.end(), duration);
    return static_cast<std::size_t>(bound - kBounds.begin());
  }

  void Observe(Micros duration) {
    duration = std::max(duration, Micros(0));
    ++counts_[BucketOf(duration)];
    sum_us_ += static_cast<std::uint64_t>(duration.count());
  }

  /// Not cumulative.
  std::array<std::uint64_t, kBuckets>& counts() { return counts_; }
  const std::array<std::uint64_t, kBuckets>& counts() const { return counts_; }
  std::uint64_t& sum_us() { return sum_us_; }
  std::uint64_t sum_us() const { return sum_us_; }
  bool operator==(const TimeHistogram&) const = default;

 private:
  std::array<std::uint64_t, kBuckets> counts_{};
  std::uint64_t sum_us_ = 0;
};

}  // namespace skerry
