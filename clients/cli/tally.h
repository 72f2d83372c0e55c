// The counts of a run and their words: outcomes by code, jobs per second, quantiles of run times.
//
// Quantiles come from a histogram with buckets 2 % wide, so that a million jobs cost no more than one: a
// printed quantile is at most 2 % off, and never outside of what was measured.
//
// Threads: one.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>

#include "common/outcome.h"
#include "common/units.h"

namespace skerry::cli {

class Tally {
 public:
  void Count(const Outcome& outcome);

  std::uint64_t total() const { return ok_ + errors_; }
  std::uint64_t ok() const { return ok_; }
  std::uint64_t errors() const { return errors_; }
  /// Of the errors, those that ended CANCELLED: they say nothing of a program.
  std::uint64_t cancelled() const { return by_code_[static_cast<std::size_t>(Code::kCancelled)]; }
  std::uint64_t failed() const { return errors_ - cancelled(); }
  /// All but those that were cancelled before they ran.
  std::uint64_t dealt_with() const { return total() - cancelled_unrun_; }

  /// Milliseconds of wall clock that `fraction` (0 to 1) of the jobs that started stayed within; 0 when none
  /// did.
  double WallQuantile(double fraction) const;

  /// "1,000 jobs in 2.0 s (500/s): 990 ok, 10 failed (TIMEOUT 7, OOM 3), 5 cancelled; run time
  /// p50 1.2 ms, p99 30 ms"; the rate is of those that were dealt with
  std::string Summary(double seconds) const;

 private:
  // 1 µs times 1.02^i: the last bucket begins past a day.
  static constexpr std::size_t kBuckets = 1300;

  std::uint64_t ok_ = 0;
  std::uint64_t errors_ = 0;
  std::uint64_t cancelled_unrun_ = 0;
  std::array<std::uint64_t, kCodeCount> by_code_{};
  std::array<std::uint64_t, kBuckets> wall_{};
  std::uint64_t timed_ = 0;
  double shortest_ms_ = std::numeric_limits<double>::infinity();
  double longest_ms_ = 0;
};

/// 1234567 as "1,234,567".
std::string Grouped(std::uint64_t number);

}  // namespace skerry::cli
