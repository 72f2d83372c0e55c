// Moves read-only memory of a file into anonymous huge pages (DESIGN section 6.3). A fork does not inherit
// the page-table entries of file mappings, so every isolate would fault them in, sixteen pages at a time, and
// give them up at its exit; it does inherit those of anonymous memory, and one entry maps 2 MiB.
//
// Technique: copy, then mremap over the original, as Node's --use-largepages and Chromium do.
//
// Threads: one; nothing else may run in, or read, the moved range meanwhile. Ownership: for the process's
// life. Errors: none; where the kernel gives no huge pages everything stays as it was.
#pragma once

#include <cstddef>
#include <cstdint>

namespace skerry::engine {

inline constexpr std::uintptr_t kPageBytes = 4096;  // x86-64
inline constexpr std::uintptr_t kHugePageBytes = 2u << 20;

/// Addresses from `begin` up to and without `end`.
struct PageRange {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;

  std::size_t size() const { return end > begin ? end - begin : 0; }
  bool operator==(const PageRange&) const = default;
};

/// What lies inside `range` of whole huge pages.
PageRange WholeHugePages(const PageRange& range);

/// Maps `copy`, of the size of `range`, in its place. False: the kernel refuses, and the copy is where it
/// was.
bool MoveOver(void* copy, const PageRange& range, int protection);

/// `range`: whole huge pages, readable. `protection`: of mprotect, what it keeps. Returns the bytes moved:
/// all or 0.
std::size_t MoveToHugePages(const PageRange& range, int protection);

}  // namespace skerry::engine
