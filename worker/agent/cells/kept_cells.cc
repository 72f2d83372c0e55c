#include "worker/agent/cells/kept_cells.h"

#include <algorithm>

namespace skerry::agent {

std::optional<std::vector<DerivedNumber>> KeptCells::RoomFor(Demand more) const {
  if (more.cells > bounds_.max_cells || more.memory_mb > bounds_.memory_mb) return std::nullopt;
  std::size_t cells = cells_.size();
  std::uint64_t used_mb = used_mb_;
  const auto fits = [&] {
    return cells <= bounds_.max_cells - more.cells && used_mb <= bounds_.memory_mb - more.memory_mb;
  };
  std::vector<DerivedNumber> evicted;
  for (auto kept = cells_.begin(); !fits() && kept != cells_.end(); ++kept) {
    if (kept->use == Use::kBusy) continue;
    evicted.push_back(kept->number);
    cells -= 1;
    used_mb -= kept->memory_mb;
  }
  if (!fits()) return std::nullopt;
  return evicted;
}

void KeptCells::Add(DerivedNumber cell, std::uint64_t memory_mb) {
  cells_.push_back({cell, memory_mb, Use::kBusy});
  used_mb_ += memory_mb;
}

void KeptCells::Hold(DerivedNumber cell, std::uint64_t memory_mb) {
  const auto kept = Find(cell);
  if (kept == cells_.end()) return;
  used_mb_ = used_mb_ - kept->memory_mb + memory_mb;
  kept->memory_mb = memory_mb;
}

void KeptCells::Set(DerivedNumber cell, Use use) {
  const auto kept = Find(cell);
  if (kept == cells_.end()) return;
  kept->use = use;
  if (use == Use::kBusy) cells_.splice(cells_.end(), cells_, kept);
}

void KeptCells::Remove(DerivedNumber cell) {
  const auto kept = Find(cell);
  if (kept == cells_.end()) return;
  used_mb_ -= kept->memory_mb;
  cells_.erase(kept);
}

KeptCells::Cells::iterator KeptCells::Find(DerivedNumber cell) {
  return std::find_if(cells_.begin(), cells_.end(), [&](const Kept& kept) { return kept.number == cell; });
}

}  // namespace skerry::agent
