// When a run has had its time, its CPU or its memory: decides from readings, and says when to read again.
//
//   LimitWatch watch(limits, baseline);
//   watch.Start(now);
//   at watch.NextCheck(): watch.Check(now, cpu, private growth) -> cause to kill for, if any
//
// A worker that was stopped, or that its machine did not let run, reads no result and brings no answer
// meanwhile. It notices by its looks coming late, and moves the deadline by what it slept: that time was not
// the job's. No more than kMostGivenBack in all, as isolates that flood their worker make it late too.
//
// Threads: plain data. It never reads a clock or /proc. Errors: none.
#pragma once

#include <optional>

#include "common/limits.h"
#include "common/units.h"
#include "worker/agent/jobs/verdict.h"

namespace skerry::agent {

class LimitWatch {
 public:
  /// A look that is later than this was kept from running; a busy machine's are some 10 ms late.
  static constexpr Millis kPunctual{100};
  /// A worker that sleeps for longer is soon given up by its broker (peer_timeout_ms).
  static constexpr Millis kMostGivenBack{5'000};

  explicit LimitWatch(const Limits& limits) : limits_(limits) {}

  /// The job's last byte has just been written.
  void Start(TimePoint now);
  TimePoint deadline() const { return deadline_; }
  /// The earliest of: the deadline, when cpuMs can be used up, the next look at memory.
  TimePoint NextCheck() const { return next_check_; }

  struct Readings {
    std::optional<Micros> cpu;           ///< since hand-over
    std::optional<Bytes> memory_growth;  ///< private memory above that at hand-over
  };
  /// Judges what was read and moves NextCheck on. The wall clock is asked first, once what the worker slept
  /// is given back.
  std::optional<Cause> Check(TimePoint now, const Readings& readings);
  /// True once: the job has run long enough to step back behind shorter ones.
  bool ShouldLowerPriority();
  bool lowered_priority() const { return lowered_; }

 private:
  void GiveBackSleep(TimePoint now);

  Limits limits_;
  TimePoint deadline_{};
  TimePoint last_check_{};
  Micros may_give_back_{kMostGivenBack};
  TimePoint next_check_{};
  Micros cpu_{0};
  bool lowered_ = false;
};

}  // namespace skerry::agent
