// Reading a limit out of a job's resolved list.
//
// Threads: pure.
#pragma once

#include <cstdint>

#include "common/job.h"
#include "common/limits.h"

namespace skerry::broker {

/// kUnlimited where the list does not name it.
inline std::uint64_t LimitOf(const JobSpec& spec, LimitId id) {
  for (const auto& [name, value] : spec.limits) {
    if (name == NameOf(id)) return value;
  }
  return kUnlimited;
}

}  // namespace skerry::broker
