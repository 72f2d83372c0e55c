#include "worker/engine/host/huge_pages.h"

#include <sys/mman.h>

#include <cstring>

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25  // Linux 6.1; glibc 2.36 does not name it yet
#endif

namespace skerry::engine {
namespace {

std::uintptr_t RoundUp(std::uintptr_t address) {
  return (address + kHugePageBytes - 1) / kHugePageBytes * kHugePageBytes;
}

/// Writable anonymous memory that begins at a huge page; null where there is none.
void* MapAligned(std::size_t size) {
  void* const mapped =
      mmap(nullptr, size + kHugePageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  const auto begin = reinterpret_cast<std::uintptr_t>(mapped);
  const std::uintptr_t aligned = RoundUp(begin);
  if (aligned > begin) munmap(mapped, aligned - begin);
  const std::uintptr_t end = begin + size + kHugePageBytes;
  if (end > aligned + size) munmap(reinterpret_cast<void*>(aligned + size), end - aligned - size);
  return reinterpret_cast<void*>(aligned);
}

}  // namespace

PageRange WholeHugePages(const PageRange& range) {
  return {RoundUp(range.begin), range.end / kHugePageBytes * kHugePageBytes};
}

bool MoveOver(void* copy, const PageRange& range, int protection) {
  return mprotect(copy, range.size(), protection) == 0 &&
         mremap(copy, range.size(), range.size(), MREMAP_MAYMOVE | MREMAP_FIXED,
                reinterpret_cast<void*>(range.begin)) != MAP_FAILED;
}

std::size_t MoveToHugePages(const PageRange& range, int protection) {
  const std::size_t size = range.size();
  if (size == 0) return 0;
  void* const copy = MapAligned(size);
  if (copy == nullptr) return 0;
  madvise(copy, size, MADV_HUGEPAGE);
  std::memcpy(copy, reinterpret_cast<const void*>(range.begin), size);
  // In small pages the copy would be far worse than the file: each fork would copy an entry for each.
  if (madvise(copy, size, MADV_COLLAPSE) != 0 || !MoveOver(copy, range, protection)) {
    munmap(copy, size);
    return 0;
  }
  return size;
}

}  // namespace skerry::engine
