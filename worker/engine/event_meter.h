// Counts, caps and truncates a job's events, and sends what is left (DESIGN section 4).
//
// Threads: one. Past a cap an event must cost next to nothing, so callers ask before they format:
//
//   if (meter.AdmitConsole()) meter.SendConsole(level, text, whole);
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/job.h"
#include "common/limits.h"
#include "common/outcome.h"
#include "common/units.h"
#include "worker/engine/job_port.h"
#include "worker/engine/limit_reporter.h"

namespace skerry::engine {

class EventMeter {
 public:
  EventMeter(const Limits& limits, JobPort& port);

  /// False: past a cap, and counted as dropped.
  bool AdmitConsole();
  bool AdmitStatus();

  /// `whole`: false where the caller has cut the text to max_event_bytes itself.
  void SendConsole(Level level, std::string_view text, bool whole);
  /// `json_text` over maxEventBytes goes out as a JSON string of its beginning, marked truncated.
  void SendStatus(std::string_view json_text);

  /// Console events dropped without an Admit: rejections past what is tracked, which is maxConsoleEvents.
  void DropMany(std::uint64_t count);

  std::size_t max_event_bytes() const { return max_event_bytes_; }
  std::uint64_t console_cap() const { return max_console_; }
  void Report(Usage* usage) const;

 private:
  /// For the limit that an event passed.
  void Drop(LimitId limit);
  bool Fits(std::size_t bytes);

  JobPort& port_;
  LimitReporter limits_;
  const std::uint64_t max_console_;
  const std::uint64_t max_status_;
  const std::size_t max_event_bytes_;
  const std::uint64_t max_total_bytes_;
  std::uint64_t console_ = 0;
  std::uint64_t status_ = 0;
  std::uint64_t total_bytes_ = 0;
  std::uint64_t dropped_ = 0;
  TimePoint next_dropped_report_{};
};

}  // namespace skerry::engine
