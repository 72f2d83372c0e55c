#include "worker/engine/host/huge_text.h"

#include <sys/mman.h>
#include <v8-initialization.h>

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25  // Linux 6.1; glibc 2.36 does not name it yet
#endif

namespace skerry::engine {
namespace {

constexpr std::uintptr_t kHugePage = 2u << 20;

struct Range {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  std::size_t size() const { return end > begin ? end - begin : 0; }
};

/// Whole huge pages of the executable mapping that V8's code is in. Empty where this code lies in it as well
/// (a statically linked V8): nobody can saw off the branch he sits on.
Range HostText() {
  const auto v8_code = reinterpret_cast<std::uintptr_t>(&v8::V8::GetVersion);
  const auto own_code = reinterpret_cast<std::uintptr_t>(&MoveTextToHugePages);
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    Range range;
    char permissions[5] = {};
    if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " %4s", &range.begin, &range.end, permissions) !=
        3)
      continue;
    if (v8_code < range.begin || v8_code >= range.end) continue;
    if (std::strcmp(permissions, "r-xp") != 0 || (own_code >= range.begin && own_code < range.end)) return {};
    return {(range.begin + kHugePage - 1) / kHugePage * kHugePage, range.end / kHugePage * kHugePage};
  }
  return {};
}

/// Writable anonymous memory that begins at a huge page; null where there is none.
void* MapAligned(std::size_t size) {
  void* const mapped =
      mmap(nullptr, size + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  const auto begin = reinterpret_cast<std::uintptr_t>(mapped);
  const std::uintptr_t aligned = (begin + kHugePage - 1) / kHugePage * kHugePage;
  if (aligned > begin) munmap(mapped, aligned - begin);
  const std::uintptr_t end = begin + size + kHugePage;
  if (end > aligned + size) munmap(reinterpret_cast<void*>(aligned + size), end - aligned - size);
  return reinterpret_cast<void*>(aligned);
}

}  // namespace

std::size_t MoveTextToHugePages() {
  const Range text = HostText();
  if (text.size() == 0) return 0;
  void* const copy = MapAligned(text.size());
  if (copy == nullptr) return 0;
  madvise(copy, text.size(), MADV_HUGEPAGE);
  std::memcpy(copy, reinterpret_cast<const void*>(text.begin), text.size());
  // In small pages the copy would be far worse than the file: each fork would copy 12,000 entries.
  if (madvise(copy, text.size(), MADV_COLLAPSE) != 0 ||
      mprotect(copy, text.size(), PROT_READ | PROT_EXEC) != 0 ||
      mremap(copy, text.size(), text.size(), MREMAP_MAYMOVE | MREMAP_FIXED,
             reinterpret_cast<void*>(text.begin)) == MAP_FAILED) {
    munmap(copy, text.size());
    return 0;
  }
  return text.size();
}

}  // namespace skerry::engine
