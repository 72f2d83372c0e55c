// What may become of a job whose isolates got signals from a stranger: the outcome contract (DESIGN sections
// 3 and 7) as a rule over what was sent.
//
//   a run that got no deadly signal    is never run again, and ends by itself
//   one that did                       may have ended before it; else it is run again where `retry` allows,
//   else
//                                      CRASH for SEGV, ABRT and SYS, which it names, LOST for KILL
//   one that was stopped               may end as TIMEOUT, on time
//
// Threads: pure functions. Errors: what is not true is told.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "tests/support/job.h"
#include "tests/support/run_log.h"

namespace skerry::testing {

struct SentSignal {
  pid_t pid = 0;
  int signal = 0;
  std::chrono::system_clock::time_point when{};
};

/// One hand-over, and what its process got.
struct SignalledRun {
  ObservedRun run;
  std::vector<int> signals;
  bool Got(int signal) const;
  bool GotADeadlyOne() const;
};

struct SignalledJob {
  std::string retry;   ///< never, safe, always
  bool calls = false;  ///< its first act is a host call
  Json value;          ///< what it returns when it is left alone
  double timeout_ms = 0;
  double timeout_slack_ms = 0;  ///< a TIMEOUT's wallMs is at most timeout_ms and this
  std::vector<SignalledRun> runs;

  bool WasSignalled() const;
};

/// The runs as they came, each with its signals, by pid, as long as one lives at most: pids are used again.
std::vector<SignalledRun> WithSignals(const std::vector<ObservedRun>& runs,
                                      const std::vector<SentSignal>& sent);

::testing::AssertionResult IsTruthful(const JobResult& result, const SignalledJob& job);

}  // namespace skerry::testing
