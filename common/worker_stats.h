// What a worker counts about its own machinery, cumulative since its process began; it tells the broker,
// which shows the sums over all workers (docs/decisions/0007).
//
// Threads: plain data. Errors: NewSince says which figure cannot be true.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "common/result.h"
#include "common/time_histogram.h"

namespace skerry {

/// How an isolate's process ended, each once: by itself, of a signal, or killed by its worker, and why.
enum class IsolateExit : std::uint8_t {
  kFinished,  ///< after its final
  kExited,    ///< without one
  kSegv,
  kBus,
  kIll,
  kTrap,
  kFpe,
  kAbrt,
  kSys,
  kOomKill,      ///< SIGKILL by the kernel, for want of memory
  kForeignKill,  ///< SIGKILL, sent by neither the worker nor the kernel's OOM killer: an operator's
  kOtherSignal,
  kKilledTimeout,  ///< timeoutMs
  kKilledCpu,      ///< cpuMs
  kKilledMemory,   ///< memoryMb, seen from outside
  kKilledCancelled,
  kKilledProtocol,  ///< it broke the protocol
  kKilledStopped,   ///< the worker is being stopped
  kKilledHandOver,  ///< it did not take its job
  kDiedIdle,        ///< before it was given a job
  kDiscarded,       ///< one too many, or of a retired cell
};
inline constexpr std::size_t kIsolateExitCount = 21;

/// Why a cell was, or had to be, started anew.
enum class CellRestart : std::uint8_t {
  kDied,
  kStartFailed,
  kForkTimeout,  ///< it did not fork in time
  kForkFailed,   ///< it said that it cannot
  kAge,
  kForks,    ///< enough forks were made of it
  kCrash,    ///< an isolate died in a way that may have shown its layout
  kUseless,  ///< its isolates died before they took a job
};
inline constexpr std::size_t kCellRestartCount = 8;

/// What becomes of cells that are forked from the base cell, with libraries or with a program evaluated.
enum class DerivedCellEvent : std::uint8_t {
  kProgramMade,
  kProgramUnkeepable,  ///< its jobs are run from the beginning
  kProgramEvicted,     ///< for want of room
  kProgramEnded,       ///< renewed, with its base cell, or dead
  kProgramJob,         ///< a job was given an isolate of one
  kLibraryMade,
  kLibraryFailed,  ///< the operator's library could not be evaluated
  kLibraryEvicted,
  kLibraryEnded,
  kLibraryJob,
};
inline constexpr std::size_t kDerivedCellEventCount = 10;

std::string_view NameOf(IsolateExit exit);
std::string_view NameOf(CellRestart restart);
std::string_view NameOf(DerivedCellEvent event);
std::optional<IsolateExit> IsolateExitByName(std::string_view name);
std::optional<CellRestart> CellRestartByName(std::string_view name);
std::optional<DerivedCellEvent> DerivedCellEventByName(std::string_view name);

struct WorkerStats {
  std::array<std::uint64_t, kIsolateExitCount> exits{};               ///< by IsolateExit
  std::array<std::uint64_t, kCellRestartCount> cell_restarts{};       ///< by CellRestart
  std::array<std::uint64_t, kDerivedCellEventCount> derived_cells{};  ///< by DerivedCellEvent
  TimeHistogram fork_times;       ///< asked for until handed out by the cell
  std::uint64_t reruns = 0;       ///< jobs run again on another isolate
  std::uint64_t lost_events = 0;  ///< dropped on the way to the broker

  // Not counted but true now.
  std::uint64_t spares = 0;
  std::uint64_t cells = 0;

  void Count(IsolateExit exit) { ++exits[static_cast<std::size_t>(exit)]; }
  void Count(CellRestart restart) { ++cell_restarts[static_cast<std::size_t>(restart)]; }
  void Count(DerivedCellEvent event) { ++derived_cells[static_cast<std::size_t>(event)]; }
  void AddCounts(const WorkerStats& more);
  bool operator==(const WorkerStats&) const = default;
};

/// No worker counts further: a double still holds every number below it.
inline constexpr std::uint64_t kMaxStat = std::uint64_t{1} << 53;
/// No worker has more cells or spares.
inline constexpr std::uint64_t kMaxStatGauge = std::uint64_t{1} << 20;

/// `now`'s counts without those of `before`, its gauges as they are. Fails where a count went down, or a
/// figure is past its bound.
Result<WorkerStats> NewSince(const WorkerStats& now, const WorkerStats& before);

}  // namespace skerry
