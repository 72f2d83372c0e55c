#include "worker/agent/cells/kept_cells.h"

#include <gtest/gtest.h>

namespace skerry::agent {
namespace {

using Use = KeptCells::Use;
using Numbers = std::vector<DerivedNumber>;

TEST(KeptCells, TakesAsManyAndAsMuchAsItsBoundsAndNoMore) {
  KeptCells kept({.max_cells = 2, .memory_mb = 100});
  EXPECT_EQ(kept.RoomFor({1, 100}), Numbers());
  EXPECT_EQ(kept.RoomFor({1, 101}), std::nullopt);
  EXPECT_EQ(kept.RoomFor({3, 0}), std::nullopt);
  kept.Add(1, 60);
  EXPECT_EQ(kept.RoomFor({1, 40}), Numbers());
  EXPECT_EQ(kept.RoomFor({1, 41}), std::nullopt) << "the only one there is busy";
  kept.Add(2, 40);
  EXPECT_EQ(kept.RoomFor({1, 0}), std::nullopt);
  EXPECT_EQ(kept.memory_mb(), 100u);
}

TEST(KeptCells, EvictsTheOnesLongestUnusedAndOnlyAsManyAsItTakes) {
  KeptCells kept({.max_cells = 8, .memory_mb = 100});
  for (DerivedNumber cell = 1; cell <= 4; ++cell) {
    kept.Add(cell, 25);
    kept.Set(cell, Use::kIdle);
  }
  kept.Set(1, Use::kBusy);
  kept.Set(1, Use::kIdle);
  EXPECT_EQ(kept.RoomFor({1, 25}), Numbers({2}));
  EXPECT_EQ(kept.RoomFor({1, 26}), Numbers({2, 3}));
  EXPECT_EQ(kept.RoomFor({1, 100}), Numbers({2, 3, 4, 1}));
  kept.Set(3, Use::kBusy);
  EXPECT_EQ(kept.RoomFor({1, 50}), Numbers({2, 4}));
  EXPECT_EQ(kept.RoomFor({1, 76}), std::nullopt) << "a busy one is never taken";
}

TEST(KeptCells, GivesBackWhatIsRemovedOrHeldNoMore) {
  KeptCells kept({.max_cells = 2, .memory_mb = 100});
  kept.Add(1, 100);
  kept.Hold(1, 30);
  EXPECT_EQ(kept.RoomFor({1, 70}), Numbers());
  kept.Hold(1, 31);
  EXPECT_EQ(kept.RoomFor({1, 70}), std::nullopt);
  kept.Remove(1);
  kept.Remove(1);
  kept.Hold(1, 5);
  kept.Set(1, Use::kBusy);
  EXPECT_EQ(kept.cells(), 0u);
  EXPECT_EQ(kept.memory_mb(), 0u);
  EXPECT_EQ(kept.RoomFor({1, 100}), Numbers());
}

TEST(KeptCells, MakesRoomForMoreOfOneThatIsThereByOthers) {
  KeptCells kept({.max_cells = 2, .memory_mb = 100});
  kept.Add(1, 90);
  kept.Set(1, Use::kIdle);
  kept.Add(2, 0);
  EXPECT_EQ(kept.RoomFor({0, 10}), Numbers());
  EXPECT_EQ(kept.RoomFor({0, 11}), Numbers({1}));
}

}  // namespace
}  // namespace skerry::agent
