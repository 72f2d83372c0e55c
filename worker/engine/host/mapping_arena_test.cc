#include "worker/engine/host/mapping_arena.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

namespace skerry::engine {
namespace {

constexpr int kPrivate = MAP_PRIVATE | MAP_ANONYMOUS;
constexpr std::uintptr_t kHint = (std::uintptr_t{0x2116} << 32) + 0xcbfc0000;
constexpr std::uintptr_t kArena = kHint / MappingArena::kArenaBytes * MappingArena::kArenaBytes;
constexpr std::size_t kPage = 256u << 10;

TEST(MappingArena, BeginsWhereTheFirstHintLies) {
  MappingArena arena;
  EXPECT_EQ(arena.Place(kHint, kPage, kPrivate), kArena);
}

TEST(MappingArena, PlacesWhatFollowsBehindItWhereverItIsAskedFor) {
  MappingArena arena;
  arena.Place(kHint, kPage, kPrivate);
  EXPECT_EQ(arena.Place(kHint * 3, kPageBytes, kPrivate), kArena + kPage);
  EXPECT_EQ(arena.Place(kHint * 2, kPage, kPrivate), kArena + 2 * kPage) << "aligned as V8 wants it";
}

TEST(MappingArena, LeavesAloneWhatIsNotV8sHeap) {
  MappingArena arena;
  EXPECT_EQ(arena.Place(0, kPage, kPrivate), 0u) << "the kernel's to place";
  EXPECT_EQ(arena.Place(kHint, kPage, kPrivate | MAP_FIXED), kHint);
  EXPECT_EQ(arena.Place(kHint, kPage, kPrivate | MAP_FIXED_NOREPLACE), kHint);
  EXPECT_EQ(arena.Place(kHint, kPage, MAP_PRIVATE), kHint) << "a file";
  EXPECT_EQ(arena.Place(kHint, MappingArena::kLargest, kPrivate), kHint) << "a reservation";
  EXPECT_EQ(arena.Place(kHint, MappingArena::kLargest - kPageBytes, kPrivate), kArena);
}

TEST(MappingArena, BeginsAnewWhereOneIsFull) {
  MappingArena arena;
  const std::size_t length = 31u << 20;
  std::size_t placed = 0;
  while (arena.Place(kHint, length, kPrivate) == kArena + placed * length) ++placed;
  EXPECT_EQ(placed, MappingArena::kArenaBytes / length);
  EXPECT_EQ(arena.Place(kHint, kPage, kPrivate), kArena + length) << "behind the one that began the next";
}

TEST(MappingArena, UsesAgainWhatV8CutsOff) {
  MappingArena arena;
  const std::uintptr_t begin = arena.Place(kHint, 2 * kPage - kPageBytes, kPrivate);
  const PageRange left = arena.Cut({begin + kPage, begin + 2 * kPage - kPageBytes});
  EXPECT_EQ(left, (PageRange{begin, begin + kPage}));
  EXPECT_EQ(arena.Place(kHint, kPage, kPrivate), begin + kPage);
}

TEST(MappingArena, TellsANewPageOnceAndNothingElse) {
  MappingArena arena;
  EXPECT_EQ(arena.Cut({kHint, kHint + kPage}), PageRange());
  const std::uintptr_t begin = arena.Place(kHint, 2 * kPage, kPrivate);
  EXPECT_EQ(arena.Cut({begin, begin + kPage}), PageRange()) << "its beginning";
  EXPECT_EQ(arena.Cut({begin, begin + 2 * kPage}), PageRange()) << "all of it";
  EXPECT_EQ(arena.Cut({begin + kPage, begin + 2 * kPage}), (PageRange{begin, begin + kPage}));
  EXPECT_EQ(arena.Cut({begin + kPageBytes, begin + kPage}), PageRange()) << "freed later";
}

}  // namespace
}  // namespace skerry::engine
