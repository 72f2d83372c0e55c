// Whether one cell more would help: for a while nearly every fork that a job waits for has had to queue.
//
//   if (pressure.Note(jobs_waiting, pending_of_the_idlest_cell, now)) start another cell;
//
// Threads: plain data. Errors: none.
#pragma once

#include <cstddef>

#include "common/units.h"

namespace skerry::agent {

class ForkPressure {
 public:
  /// A burst is over sooner, and a cell takes 0.1 s and 64 MiB to start.
  static constexpr Millis kWindow{1'000};
  static constexpr int kWindows = 2;
  /// Fewer forks in a window are no load for a cell, which makes some 5,000 a second [M].
  static constexpr std::size_t kLeastForks = 500;
  /// Forks that a cell has to make first: with one it is just at work.
  static constexpr std::size_t kQueued = 2;

  /// A fork is asked for. True: for kWindows in a row, at least kLeastForks came in each, and four of five
  /// queued.
  bool Note(std::size_t jobs_waiting, std::size_t pending, TimePoint now);

 private:
  TimePoint window_{};
  std::size_t asked_ = 0;
  std::size_t queued_ = 0;
  int full_windows_ = 0;
};

}  // namespace skerry::agent
