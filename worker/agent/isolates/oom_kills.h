// Whether the kernel's OOM killer explains a SIGKILL that nobody here sent: each rise of the kernel's own
// counter explains as many deaths as it rose by, and no more.
//
//   OomKills kills;
//   kills.Note(now);                          // at every hand-over: reads once a second at most
//   if (kills.Explain(now)) ...               // at such a death: reads, and uses up one of the rise
//
// The counter is that of the worker's own memory group (version 2: memory.events, version 1:
// memory.oom_control), which its isolates are in; where there is none, the machine's (/proc/vmstat). The
// kernel counts before it kills, so a death that is reaped has been counted. Not every counted kill is of an
// isolate that asks here: a cell's may be, or that of an isolate whose end was decided already. So a rise
// explains deaths only within a second of being seen.
//
// Threads: the event loop's. Errors: a counter that cannot be read explains nothing.
#pragma once

#include <cstdint>
#include <filesystem>

#include "common/memory_groups.h"
#include "common/units.h"

namespace skerry::agent {

class OomKills {
 public:
  /// How long a rise can explain deaths, and how often hand-overs have the counter read.
  static constexpr Millis kFresh{1'000};

  /// `root`: where /proc and /sys are, for tests.
  explicit OomKills(const std::filesystem::path& root = "/");

  /// Keeps the last value recent, so that what rose long ago explains nothing later.
  void Note(TimePoint now);
  bool Explain(TimePoint now);
  /// Whose kills are counted.
  OomCounter::Of counted_by() const { return counter_.of; }

 private:
  void Look(TimePoint now);

  FileReader files_;
  OomCounter counter_;
  std::uint64_t seen_ = 0;
  std::uint64_t unexplained_ = 0;  // of the rises within kFresh
  TimePoint rose_at_{};
  TimePoint noted_at_{};
};

}  // namespace skerry::agent
