// The limits of DESIGN section 4 that are a worker's, not a job's: how many isolates, and how much memory it
// may promise.
//
// Threads: pure. Errors: none.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace skerry {

enum class PoolLimit : std::uint8_t { kMaxConcurrentIsolates, kWorkerMemoryMb };
inline constexpr std::size_t kPoolLimitCount = 2;

/// The field's name in errors, metrics and configuration.
constexpr std::string_view NameOf(PoolLimit limit) {
  constexpr std::array<std::string_view, kPoolLimitCount> kNames = {"maxConcurrentIsolates",
                                                                    "workerMemoryMb"};
  return kNames[static_cast<std::size_t>(limit)];
}

constexpr std::optional<PoolLimit> PoolLimitByName(std::string_view name) {
  for (std::size_t i = 0; i < kPoolLimitCount; ++i) {
    if (NameOf(static_cast<PoolLimit>(i)) == name) return static_cast<PoolLimit>(i);
  }
  return std::nullopt;
}

}  // namespace skerry
