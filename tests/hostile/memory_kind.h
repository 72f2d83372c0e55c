// The kinds of memory a program can hold, each as a bomb and as a well-behaved twin.
//
// Both run `add` over and over, which appends one unit to the array `hold`. The bomb never stops. The twin
// holds as many units as make 80 % of its budget, lets them go, and for kinds that V8 itself accounts does so
// a second time, which fits only if the first was given back.
//
// `unit_bytes` is what one unit keeps alive, measured with the host binary as Node (V8's heap + external
// after two full collections, over 300 to 3000 units). For Intl, which V8 does not count, it is the growth of
// the resident size.
//
// Threads: plain data.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "tests/support/job.h"

namespace skerry::testing {

struct MemoryKind {
  std::string name;
  std::string add;
  std::uint64_t unit_bytes;
  int rounds = 2;
};

inline void PrintTo(const MemoryKind& kind, std::ostream* out) {
  *out << kind.name;
}

const std::vector<MemoryKind>& MemoryKinds();

Job BombJob(const MemoryKind& kind, std::uint64_t memory_mb);
Job TwinJob(const MemoryKind& kind, std::uint64_t memory_mb);

}  // namespace skerry::testing
