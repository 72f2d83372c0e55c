// The limits of the pool, not of a job: how many isolates a worker may run and how much memory it may promise
// (DESIGN section 4), and what an operator lets a tenant have (tenants.toml).
//
// Threads: pure. Errors: none.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace skerry {

enum class PoolLimit : std::uint8_t {
  kMaxConcurrentIsolates,
  kWorkerMemoryMb,
  kMaxConcurrent,  ///< this and the next: jobs of a tenant
  kMaxQueued,
  kRate,  ///< this and the next: submissions of a tenant, or of one of its users, in a second
  kUserRate,
  kTurnBudget,  ///< executions of a turn
};
inline constexpr std::size_t kPoolLimitCount = 7;

/// The field's name in errors, metrics and configuration.
constexpr std::string_view NameOf(PoolLimit limit) {
  constexpr std::array<std::string_view, kPoolLimitCount> kNames = {"maxConcurrentIsolates",
                                                                    "workerMemoryMb",
                                                                    "maxConcurrent",
                                                                    "maxQueued",
                                                                    "rate",
                                                                    "userRate",
                                                                    "turnBudget"};
  return kNames[static_cast<std::size_t>(limit)];
}

constexpr std::optional<PoolLimit> PoolLimitByName(std::string_view name) {
  for (std::size_t i = 0; i < kPoolLimitCount; ++i) {
    if (NameOf(static_cast<PoolLimit>(i)) == name) return static_cast<PoolLimit>(i);
  }
  return std::nullopt;
}

}  // namespace skerry
