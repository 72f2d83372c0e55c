#include "worker/engine/host/mapping_arena.h"

#include <sys/mman.h>

#include <utility>

namespace skerry::engine {
namespace {

constexpr std::uintptr_t RoundUp(std::uintptr_t address) {
  return (address + MappingArena::kAlignment - 1) / MappingArena::kAlignment * MappingArena::kAlignment;
}

}  // namespace

std::uintptr_t MappingArena::Place(std::uintptr_t hint, std::size_t length, int flags) {
  constexpr int kElsewhere = MAP_FIXED | MAP_FIXED_NOREPLACE;
  if (hint == 0 || (flags & kElsewhere) != 0 || (flags & MAP_ANONYMOUS) == 0 || length >= kLargest)
    return hint;
  if (RoundUp(next_) + length > end_) {
    next_ = hint / kArenaBytes * kArenaBytes;
    end_ = next_ + kArenaBytes;
  }
  last_ = RoundUp(next_);
  next_ = last_ + length;
  return last_;
}

PageRange MappingArena::Cut(const PageRange& cut) {
  if (last_ == 0 || cut.end != next_ || cut.begin <= last_) return {};
  next_ = cut.begin;
  return {std::exchange(last_, 0), cut.begin};
}

}  // namespace skerry::engine
