// What this process has mapped, and what the kernel says of each page.
//
// Source: /proc/self/maps and /proc/self/pagemap (the kernel's Documentation/admin-guide/mm/pagemap.rst).
// Threads: any. Errors: empty where /proc is not there.
#pragma once

#include <cstdint>
#include <vector>

#include "common/fd.h"
#include "worker/engine/host/huge_pages.h"

namespace skerry::engine {

struct Mapping {
  PageRange range;
  bool readable = false;
  bool writable = false;
  bool executable = false;
  bool shared = false;
  bool of_file = false;

  bool Contains(std::uintptr_t address) const { return address >= range.begin && address < range.end; }
};

std::vector<Mapping> ReadMemoryMap();

class PageMap {
 public:
  PageMap();

  /// One page's entry.
  class Page {
   public:
    explicit Page(std::uint64_t entry) : entry_(entry) {}
    bool present() const { return (entry_ >> 63 & 1) != 0; }
    /// No other process has it mapped: in a fork, it has been written or is new.
    bool exclusive() const { return present() && (entry_ >> 56 & 1) != 0; }

   private:
    std::uint64_t entry_;
  };

  /// Of each page of `range`, in order; empty where the kernel does not tell.
  std::vector<Page> Read(const PageRange& range) const;

 private:
  Fd file_;
};

}  // namespace skerry::engine
