// Whether one cell more would help: for a while nearly every fork that a job waits for has had to queue.
//
//   ForkPressure pressure({});
//   if (pressure.Note(jobs_waiting, pending_of_the_idlest_cell, now)) start another cell;
//
// Threads: plain data. Errors: none.
#pragma once

#include <cstddef>

#include "common/units.h"

namespace skerry::agent {

class ForkPressure {
 public:
  struct Options {
    /// A burst is over sooner, and a cell takes 0.1 s and 64 MiB to start.
    Millis window{1'000};
    /// Fewer forks in a window are no load for a cell, which makes some 5,000 a second [M].
    std::size_t least_forks = 500;
  };
  static constexpr int kWindows = 2;
  /// Forks that a cell has to make first: with one it is just at work.
  static constexpr std::size_t kQueued = 2;

  explicit ForkPressure(Options options) : options_(options) {}

  /// A fork is asked for. True: for kWindows in a row, at least least_forks came in each, and four of five
  /// queued.
  bool Note(std::size_t jobs_waiting, std::size_t pending, TimePoint now);

 private:
  const Options options_;
  TimePoint window_{};
  std::size_t asked_ = 0;
  std::size_t queued_ = 0;
  int full_windows_ = 0;
};

}  // namespace skerry::agent
