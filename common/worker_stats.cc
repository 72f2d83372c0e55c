#include "common/worker_stats.h"

#include <string>

namespace skerry {
namespace {

constexpr std::array<std::string_view, kIsolateExitCount> kExits = {
    "finished",         "exited",          "sigsegv",        "sigbus",           "sigill",
    "sigtrap",          "sigfpe",          "sigabrt",        "sigsys",           "oom_kill",
    "foreign_kill",     "other_signal",    "killed_timeout", "killed_cpu",       "killed_memory",
    "killed_cancelled", "killed_protocol", "killed_stopped", "killed_hand_over", "died_idle",
    "discarded"};
constexpr std::array<std::string_view, kCellRestartCount> kRestarts = {
    "died", "start_failed", "fork_timeout", "fork_failed", "age", "forks", "crash", "useless"};
constexpr std::array<std::string_view, kDerivedCellEventCount> kDerivedCellEvents = {
    "program_made", "program_unkeepable", "program_evicted", "program_ended", "program_job",
    "library_made", "library_failed",     "library_evicted", "library_ended", "library_job"};

/// Every count of two records side by side, with its name.
template <class A, class B, class F>
void ForEachCount(A& a, B& b, F&& visit) {
  for (std::size_t i = 0; i < kIsolateExitCount; ++i) visit(kExits[i], a.exits[i], b.exits[i]);
  for (std::size_t i = 0; i < kCellRestartCount; ++i)
    visit(kRestarts[i], a.cell_restarts[i], b.cell_restarts[i]);
  for (std::size_t i = 0; i < kDerivedCellEventCount; ++i)
    visit(kDerivedCellEvents[i], a.derived_cells[i], b.derived_cells[i]);
  for (std::size_t i = 0; i < TimeHistogram::kBuckets; ++i)
    visit("forkUs", a.fork_times.counts()[i], b.fork_times.counts()[i]);
  visit("forkSumUs", a.fork_times.sum_us(), b.fork_times.sum_us());
  visit("reruns", a.reruns, b.reruns);
  visit("lostEvents", a.lost_events, b.lost_events);
}

template <class Enum, std::size_t N>
std::optional<Enum> ByName(const std::array<std::string_view, N>& names, std::string_view name) {
  for (std::size_t i = 0; i < N; ++i) {
    if (names[i] == name) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

}  // namespace

std::string_view NameOf(IsolateExit exit) {
  return kExits[static_cast<std::size_t>(exit)];
}
std::string_view NameOf(CellRestart restart) {
  return kRestarts[static_cast<std::size_t>(restart)];
}
std::string_view NameOf(DerivedCellEvent event) {
  return kDerivedCellEvents[static_cast<std::size_t>(event)];
}
std::optional<IsolateExit> IsolateExitByName(std::string_view name) {
  return ByName<IsolateExit>(kExits, name);
}
std::optional<CellRestart> CellRestartByName(std::string_view name) {
  return ByName<CellRestart>(kRestarts, name);
}
std::optional<DerivedCellEvent> DerivedCellEventByName(std::string_view name) {
  return ByName<DerivedCellEvent>(kDerivedCellEvents, name);
}

void WorkerStats::AddCounts(const WorkerStats& more) {
  ForEachCount(*this, more,
               [](std::string_view, std::uint64_t& mine, const std::uint64_t& theirs) { mine += theirs; });
}

Result<WorkerStats> NewSince(const WorkerStats& now, const WorkerStats& before) {
  if (now.spares > kMaxStatGauge) return Fail(ErrorKind::kInvalid, "spares is more than any worker has");
  if (now.cells > kMaxStatGauge) return Fail(ErrorKind::kInvalid, "cells is more than any worker has");
  WorkerStats fresh = now;
  std::string fault;
  ForEachCount(fresh, before, [&](std::string_view name, std::uint64_t& count, const std::uint64_t& old) {
    if (count > kMaxStat) {
      fault = std::string(name) + " is more than any worker counts";
    } else if (count < old) {
      fault = std::string(name) + " went down from " + std::to_string(old) + " to " + std::to_string(count);
    } else {
      count -= old;
    }
  });
  if (!fault.empty()) return Fail(ErrorKind::kInvalid, fault);
  return fresh;
}

}  // namespace skerry
