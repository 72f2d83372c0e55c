// What a worker did with jobs, from its debug log, to the millisecond: for tests that know when each was
// over.
//
// Threads: pure.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace skerry::testing {

struct CancelledRun {
  std::string job;
  pid_t pid = 0;
  /// Handed over, started, or the last of its calls answered.
  std::chrono::system_clock::time_point last_step{};
  /// Its isolate was reaped; none: its worker died with it.
  std::optional<std::chrono::system_clock::time_point> ended;
};

/// Of the jobs whose ids begin so; one for each hand-over.
std::vector<CancelledRun> RunsIn(const std::string& worker_log, const std::string& prefix);

/// How far apart the clocks of two processes' lines and events may be read on a busy machine.
inline constexpr std::chrono::milliseconds kLateness{250};

}  // namespace skerry::testing
