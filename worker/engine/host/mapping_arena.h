// Where V8's mappings lie: side by side. V8 asks for each page of its heap at a random address of its own, so
// that each has page tables of its own (three pages of them), which every fork copies and every exit frees: a
// tenth of what a trivial job costs. Here the first request's random address is the arena's, and those that
// follow are placed behind it.
//
// In a fork it also sees V8's heap grow: from the second new page of the heap on, each is populated at once,
// a call of 25 us where the faults of its 64 pages take 50 [M].
//
// Threads: one. Errors: none; a place that the kernel does not give costs only time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "worker/engine/host/huge_pages.h"

namespace skerry::engine {

class MappingArena {
 public:
  /// One upper page table's worth, in which all tables below are shared.
  static constexpr std::uintptr_t kArenaBytes = std::uintptr_t{1} << 30;
  /// V8's heap pages begin at multiples of this.
  static constexpr std::uintptr_t kAlignment = std::uintptr_t{256} << 10;
  /// Larger ones are reservations, such as for code, which V8 wants near the host's.
  static constexpr std::size_t kLargest = std::size_t{32} << 20;

  /// Where a mapping that is asked for at `hint` should lie; `flags` are mmap's. The same for what is not
  /// V8's to be moved: without a hint, at a fixed address, of a file, too large.
  std::uintptr_t Place(std::uintptr_t hint, std::size_t length, int flags);
  /// V8 maps more than it needs and cuts off what is not aligned. Returns what is left, a new page of its
  /// heap, if `cut` is the end of what was placed last; else nothing.
  PageRange Cut(const PageRange& cut);

 private:
  std::uintptr_t next_ = 0;
  std::uintptr_t end_ = 0;
  std::uintptr_t last_ = 0;  // where the mapping placed last begins; 0: none, or it has been cut
};

}  // namespace skerry::engine
