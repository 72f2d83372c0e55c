// When a run has had its time, its CPU or its memory: decides from readings, and says when to read again.
//
//   LimitWatch watch(limits, baseline);
//   watch.Start(now);
//   at watch.NextCheck(): watch.Check(now, cpu, private growth) -> cause to kill for, if any
//
// Threads: plain data. It never reads a clock or /proc. Errors: none.
#pragma once

#include <optional>

#include "common/limits.h"
#include "common/units.h"
#include "worker/agent/verdict.h"

namespace skerry::agent {

class LimitWatch {
 public:
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
  /// Judges what was read and moves NextCheck on. The wall clock is asked first.
  std::optional<Cause> Check(TimePoint now, const Readings& readings);
  /// True once: the job has run long enough to step back behind shorter ones.
  bool ShouldLowerPriority();

 private:
  Limits limits_;
  TimePoint deadline_{};
  TimePoint next_check_{};
  Micros cpu_{0};
  bool lowered_ = false;
};

}  // namespace skerry::agent
