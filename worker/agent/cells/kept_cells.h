// Which derived cells a worker keeps: so many, in so much memory; who goes when another needs room.
//
//   KeptCells kept({.max_cells = 64, .memory_mb = 1024});
//   auto room = kept.RoomFor({.cells = 1, .memory_mb = 64});   // those to be ended first; none: it cannot be
//   had for (DerivedNumber cell : *room) kept.Remove(cell); kept.Add(7, 64);
//
// A busy cell stays: jobs wait for it. Of the others the one whose last use is longest ago goes first.
//
// Threads: plain data, one owner; it reads no clock. Errors: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <vector>

#include "worker/agent/isolates/isolate.h"

namespace skerry::agent {

class KeptCells {
 public:
  struct Bounds {
    std::size_t max_cells = 64;
    std::uint64_t memory_mb = 0;
  };
  struct Demand {
    std::size_t cells = 0;
    std::uint64_t memory_mb = 0;
  };
  enum class Use : std::uint8_t { kIdle, kBusy };

  explicit KeptCells(Bounds bounds) : bounds_(bounds) {}

  /// Who has to be removed so that this much more fits; nothing where not even that would do.
  std::optional<std::vector<DerivedNumber>> RoomFor(Demand more) const;
  /// Busy from the beginning, and the latest used.
  void Add(DerivedNumber cell, std::uint64_t memory_mb);
  /// What it holds from now on. RoomFor has been asked where that is more.
  void Hold(DerivedNumber cell, std::uint64_t memory_mb);
  /// Busy makes it the latest used. Nothing happens to one that is not kept.
  void Set(DerivedNumber cell, Use use);
  void Remove(DerivedNumber cell);

  std::size_t cells() const { return cells_.size(); }
  std::uint64_t memory_mb() const { return used_mb_; }

 private:
  struct Kept {
    DerivedNumber number;
    std::uint64_t memory_mb;
    Use use;
  };
  using Cells = std::list<Kept>;

  Cells::iterator Find(DerivedNumber cell);

  const Bounds bounds_;
  Cells cells_;  // longest unused first
  std::uint64_t used_mb_ = 0;
};

}  // namespace skerry::agent
