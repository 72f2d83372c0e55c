#include "common/wire/stats.h"

#include <string>
#include <string_view>

namespace skerry::wire {
namespace {

constexpr std::string_view kNoBound = "inf";

std::string BoundName(std::size_t bucket) {
  if (bucket == TimeHistogram::kBounds.size()) return std::string(kNoBound);
  return std::to_string(TimeHistogram::kBounds[bucket].count());
}

template <std::size_t N, class NameOfIndex>
NamedCounts Named(const std::array<std::uint64_t, N>& counts, NameOfIndex&& name_of) {
  NamedCounts named;
  for (std::size_t i = 0; i < N; ++i) {
    if (counts[i] > 0) named.entries.emplace_back(name_of(i), counts[i]);
  }
  return named;
}

template <std::size_t N, class NameOfIndex>
void Unname(const NamedCounts& named, std::array<std::uint64_t, N>& counts, NameOfIndex&& name_of) {
  for (const auto& [name, count] : named.entries) {
    for (std::size_t i = 0; i < N; ++i) {
      if (name_of(i) == name) counts[i] = count;
    }
  }
}

template <class Enum>
std::string EnumName(std::size_t index) {
  return std::string(NameOf(static_cast<Enum>(index)));
}

}  // namespace

Stats ToStats(const WorkerStats& figures) {
  Stats stats;
  stats.exits = Named(figures.exits, EnumName<IsolateExit>);
  stats.cell_restarts = Named(figures.cell_restarts, EnumName<CellRestart>);
  stats.derived_cells = Named(figures.derived_cells, EnumName<DerivedCellEvent>);
  stats.fork_us = Named(figures.fork_times.counts(), BoundName);
  stats.fork_sum_us = figures.fork_times.sum_us();
  stats.reruns = figures.reruns;
  stats.lost_events = figures.lost_events;
  stats.spares = figures.spares;
  stats.cells = figures.cells;
  return stats;
}

WorkerStats FromStats(const Stats& stats) {
  WorkerStats figures;
  Unname(stats.exits, figures.exits, EnumName<IsolateExit>);
  Unname(stats.cell_restarts, figures.cell_restarts, EnumName<CellRestart>);
  Unname(stats.derived_cells, figures.derived_cells, EnumName<DerivedCellEvent>);
  Unname(stats.fork_us, figures.fork_times.counts(), BoundName);
  figures.fork_times.sum_us() = stats.fork_sum_us;
  figures.reruns = stats.reruns;
  figures.lost_events = stats.lost_events;
  figures.spares = stats.spares;
  figures.cells = stats.cells;
  return figures;
}

}  // namespace skerry::wire
