#include "worker/engine/buffer_slabs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

namespace skerry::engine {
namespace {

using Content = BufferSlabs::Content;

bool IsAll(const void* block, std::size_t size, unsigned char value) {
  const auto* const bytes = static_cast<const unsigned char*>(block);
  return std::all_of(bytes, bytes + size, [value](unsigned char byte) { return byte == value; });
}

TEST(BufferSlabs, GivesAlignedZeroedBlocksOfEverySize) {
  BufferSlabs slabs;
  for (std::size_t size : {std::size_t{1}, std::size_t{16}, std::size_t{17}, std::size_t{100},
                           std::size_t{4096}, std::size_t{60'000}, BufferSlabs::kMaxBlockBytes}) {
    void* const block = slabs.Allocate(size, Content::kZero);
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % 16, 0u);
    EXPECT_TRUE(IsAll(block, size, 0)) << size;
    std::memset(block, 0xff, size);
    slabs.Free(block);
  }
  EXPECT_EQ(slabs.slabs(), 0u);
}

TEST(BufferSlabs, ARecycledBlockIsZeroAgainWhereThatIsAskedFor) {
  BufferSlabs slabs;
  void* const keeper = slabs.Allocate(1000, Content::kZero);  // so that the slab lives on
  void* const first = slabs.Allocate(1000, Content::kZero);
  std::memset(first, 0xff, 1000);
  slabs.Free(first);
  void* const second = slabs.Allocate(1000, Content::kZero);
  EXPECT_EQ(second, first);
  EXPECT_TRUE(IsAll(second, 1000, 0));
  slabs.Free(second);
  slabs.Free(keeper);
  EXPECT_EQ(slabs.slabs(), 0u);
}

TEST(BufferSlabs, RandomTrafficNeverOverlapsAndEndsWithoutSlabs) {
  struct Block {
    void* at;
    std::size_t size;
    unsigned char mark;
  };
  std::mt19937 random(7);
  BufferSlabs slabs;
  std::vector<Block> live;
  for (int step = 0; step < 60'000; ++step) {
    const bool grow = live.empty() || (random() % 3 != 0 && live.size() < 3000);
    if (grow) {
      const std::size_t size = 1 + random() % (random() % 10 == 0 ? BufferSlabs::kMaxBlockBytes : 300);
      const auto mark = static_cast<unsigned char>(1 + random() % 255);
      void* const at = slabs.Allocate(size, random() % 2 == 0 ? Content::kZero : Content::kUninitialized);
      ASSERT_NE(at, nullptr);
      std::memset(at, mark, size);
      live.push_back({at, size, mark});
    } else {
      std::swap(live[random() % live.size()], live.back());
      ASSERT_TRUE(IsAll(live.back().at, live.back().size, live.back().mark)) << "block was overwritten";
      slabs.Free(live.back().at);
      live.pop_back();
    }
  }
  for (const Block& block : live) {
    ASSERT_TRUE(IsAll(block.at, block.size, block.mark));
    slabs.Free(block.at);
  }
  EXPECT_EQ(slabs.slabs(), 0u);
}

TEST(BufferSlabs, AFullSlabHoldsNearlyItsSizeInBlocks) {
  BufferSlabs slabs;
  std::vector<void*> blocks;
  while (slabs.slabs() < 2) blocks.push_back(slabs.Allocate(1000, Content::kZero));
  EXPECT_GT((blocks.size() - 1) * 1000, BufferSlabs::kSlabBytes * 70 / 100);
  for (void* block : blocks) slabs.Free(block);
}

}  // namespace
}  // namespace skerry::engine
