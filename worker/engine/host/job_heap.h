// Where the small allocations of a job lie: together, in pages of their own.
//
// glibc would serve them from the free blocks that V8's start has left all over the template's heap, and
// write into the pages of blocks that are freed; each such page is copied in every fork (79 of the 107 that a
// trivial job wrote). Here they come from one region that the template reserves and never touches.
//
//   heap.Reserve();   // in the template
//   heap.Open();      // in a fork: from now on malloc and free ask it first
//
// A block keeps its size in front of it; freed ones are given out again to requests of their size class. What
// is too large, or comes when the region is used up, is glibc's. Blocks that the template allocated are never
// given back in a fork: their pages are worth more unwritten than free.
//
// Threads: one. Ownership: the region lives as long as the process. Errors: null where a block is not to be
// had here; the caller asks glibc.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace skerry::engine {

class JobHeap {
 public:
  /// Reserved; a trivial job uses some 40 KiB of it [M].
  static constexpr std::size_t kBytes = 256u << 10;
  static constexpr std::size_t kMaxBlockBytes = 32u << 10;

  /// Maps the region. False: the kernel refuses, and it stays closed.
  bool Reserve();
  /// `inherited_end`: the end of the heap that the template's blocks lie in (sbrk(0)).
  void Open(const void* inherited_end);

  /// At least `size` bytes, aligned to 16; null: not here.
  void* Allocate(std::size_t size);
  void Free(void* block);
  /// Whether Allocate gave it.
  bool Owns(const void* block) const {
    const auto at = reinterpret_cast<std::uintptr_t>(block);
    return at >= begin_ && at < end_;
  }
  /// Whether it is a block of the template's heap, not to be freed. Wrong only for what glibc gave out again
  /// of that heap's free blocks, which is then lost to the job.
  bool IsInherited(const void* block) const {
    return open_ && reinterpret_cast<std::uintptr_t>(block) < inherited_end_;
  }
  /// Usable bytes of a block that it owns.
  static std::size_t SizeOf(const void* block);
  /// Never given out so far.
  std::size_t untouched() const { return end_ - next_; }

 private:
  static constexpr std::size_t kClasses = 84;

  struct FreeBlock {
    FreeBlock* next;
  };

  std::uintptr_t begin_ = 0;
  std::uintptr_t next_ = 0;
  std::uintptr_t end_ = 0;
  std::uintptr_t inherited_end_ = 0;
  bool open_ = false;
  std::array<FreeBlock*, kClasses> free_{};
};

/// The one that malloc asks; usable before any constructor has run.
inline constinit JobHeap process_job_heap;

}  // namespace skerry::engine
