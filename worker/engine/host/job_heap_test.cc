#include "worker/engine/host/job_heap.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

namespace skerry::engine {
namespace {

class OpenHeap : public JobHeap {
 public:
  OpenHeap() {
    EXPECT_TRUE(Reserve());
    Open(nullptr);
  }
};

TEST(JobHeap, GivesNothingBeforeItIsOpen) {
  JobHeap heap;
  EXPECT_EQ(heap.Allocate(16), nullptr);
  heap.Open(nullptr);
  EXPECT_EQ(heap.Allocate(16), nullptr) << "never reserved";
  ASSERT_TRUE(heap.Reserve());
  JobHeap other;
  ASSERT_TRUE(other.Reserve());
  EXPECT_EQ(other.Allocate(16), nullptr) << "reserved, not open";
}

TEST(JobHeap, BlocksAreAlignedAndLargeEnoughAndItsOwn) {
  OpenHeap heap;
  for (const std::size_t size : {0u, 1u, 16u, 17u, 1024u, 1025u, 1280u, 1281u, 32767u}) {
    void* const block = heap.Allocate(size);
    ASSERT_NE(block, nullptr) << size;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % 16, 0u);
    EXPECT_GE(JobHeap::SizeOf(block), size);
    EXPECT_LE(JobHeap::SizeOf(block), size + size / 4 + 16) << "no more than a quarter is wasted";
    EXPECT_TRUE(heap.Owns(block));
    std::memset(block, 0xAB, JobHeap::SizeOf(block));
  }
  int mine = 0;
  EXPECT_FALSE(heap.Owns(&mine));
}

TEST(JobHeap, TheLargestBlockIsItsAndOneByteMoreIsGlibcs) {
  OpenHeap heap;
  EXPECT_NE(heap.Allocate(JobHeap::kMaxBlockBytes), nullptr);
  EXPECT_EQ(heap.Allocate(JobHeap::kMaxBlockBytes + 1), nullptr);
}

TEST(JobHeap, EndsExactlyWhereItsRegionDoes) {
  OpenHeap heap;
  constexpr std::size_t kBlock = 1008;  // with what stands in front of it, 1 KiB
  std::size_t blocks = 0;
  while (heap.Allocate(kBlock) != nullptr) ++blocks;
  EXPECT_EQ(blocks, JobHeap::kBytes / 1024);
  EXPECT_EQ(heap.untouched(), 0u);
  EXPECT_EQ(heap.Allocate(1), nullptr);
}

TEST(JobHeap, AFreedBlockIsGivenOutAgainToItsClassOnly) {
  OpenHeap heap;
  void* const block = heap.Allocate(100);
  heap.Free(block);
  EXPECT_NE(heap.Allocate(200), block);
  EXPECT_EQ(heap.Allocate(112), block) << "the same class";
}

TEST(JobHeap, KnowsWhatItsTemplateHadAllocated) {
  JobHeap heap;
  ASSERT_TRUE(heap.Reserve());
  char area[2] = {};
  EXPECT_FALSE(heap.IsInherited(area)) << "the template itself frees what it likes";
  heap.Open(area + 1);
  EXPECT_TRUE(heap.IsInherited(area));
  EXPECT_FALSE(heap.IsInherited(area + 1));
}

TEST(JobHeap, BlocksInUseNeverOverlap) {
  OpenHeap heap;
  std::mt19937 random(7);
  struct Live {
    unsigned char* block;
    std::size_t size;
    unsigned char mark;
  };
  std::vector<Live> live;
  for (int step = 0; step < 20'000; ++step) {
    if (live.size() < 60 && random() % 2 == 0) {
      const std::size_t size = random() % 3000;
      auto* const block = static_cast<unsigned char*>(heap.Allocate(size));
      if (block == nullptr) continue;
      live.push_back({block, size, static_cast<unsigned char>(random())});
      std::memset(block, live.back().mark, size);
    } else if (!live.empty()) {
      std::swap(live[random() % live.size()], live.back());
      const Live last = live.back();
      for (std::size_t i = 0; i < last.size; ++i) ASSERT_EQ(last.block[i], last.mark);
      heap.Free(last.block);
      live.pop_back();
    }
  }
}

}  // namespace
}  // namespace skerry::engine
