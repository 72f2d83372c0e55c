// Runs one program as the cell does: in a fork of a started engine, under a budget set from outside, killed
// at a deadline. What happened comes back to the test, so that a crash is one test's failure.
//
//   ForkedRun run;
//   run.program.code = "return 1 + 1";
//   const Ending ending = run.Go();
//   EXPECT_EQ(ending.outcome.value, "2");
//
// Threads: one. Errors: a harness failure throws.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/job.h"
#include "common/outcome.h"
#include "common/units.h"
#include "worker/engine/engine.h"
#include "worker/engine/job_port.h"

namespace skerry::engine {

struct SeenEvent {
  EventType type = EventType::kConsole;
  Level level = Level::kLog;
  std::string payload;
  bool truncated = false;
};

struct SeenCall {
  std::uint32_t call = 0;
  std::string method;
  std::string params;
};

struct Ending {
  enum class Kind { kOutcome, kOutOfMemory, kDeadline, kSignal, kExit, kUnkeepable, kNotLoaded };
  Kind kind = Kind::kExit;
  int detail = 0;      ///< signal or exit code
  std::string reason;  ///< why a program cannot be kept, or a library not be loaded
  Outcome outcome;
  std::vector<SeenEvent> events;
  std::vector<SeenCall> calls;
  std::vector<std::uint64_t> dropped_reports;
  std::vector<std::string> tripped;      ///< limits that curtailed the program, as it told
  std::uint64_t peak_private_bytes = 0;  ///< anonymous memory, what it shares with the template included
  double wall_ms = 0;

  bool ok() const { return kind == Kind::kOutcome && outcome.ok(); }
  /// "ok", a code's name, or what the process died of: the worker's verdict as far as this harness can
  /// emulate it.
  std::string Verdict() const;
  /// For messages of failed assertions.
  std::string Describe() const;
};

class ForkedRun {
 public:
  ForkedRun() = default;
  explicit ForkedRun(std::string source) : code(std::move(source)) {}

  std::string code;
  Program program;  ///< its `code` is set from `code`
  Millis deadline{10'000};
  /// RLIMIT_DATA is set to what the template has + memoryMb + this, as the worker does.
  Bytes memory_margin = Bytes::MiB(kDataMarginMb);
  /// Loaded one after the other before the program is: names and texts.
  std::vector<std::pair<std::string, std::string>> libraries;
  /// Kept in a first fork, which then forks the run: as a cell that is made for one program. None: run from
  /// its beginning.
  std::optional<Seeding> kept;
  /// Answers a call. Called in the fork, in order of the calls.
  std::function<HostAnswer(const SeenCall&)> answer;

  ForkedRun& With(LimitId limit, std::uint64_t value);
  Ending Go();

  /// The process's engine, started on first use.
  static Engine& SharedEngine();
};

/// A run of `code` in mode function with default limits.
Ending RunCode(std::string code);

}  // namespace skerry::engine
