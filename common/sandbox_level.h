// How many layers hold a worker's cells in: what logs, `skerry doctor`, HELLO and the metrics call it.
//
// Which mechanisms make which level is worker/cell/sandbox_report.h's to say.
//
// Threads: pure. Errors: none.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace skerry {

enum class SandboxLevel : std::uint8_t {
  kNone,             ///< some property is missing
  kSeccomp,          ///< one layer
  kLandlockSeccomp,  ///< two: what a default container profile leaves
  kNamespaces,       ///< three: namespaces, Landlock or not, and seccomp
};
inline constexpr std::array<std::string_view, 4> kSandboxLevels = {"none", "seccomp", "landlock+seccomp",
                                                                   "namespaces+seccomp"};

constexpr std::string_view NameOf(SandboxLevel level) {
  return kSandboxLevels[static_cast<std::size_t>(level)];
}

constexpr std::optional<SandboxLevel> SandboxLevelByName(std::string_view name) {
  for (std::size_t i = 0; i < kSandboxLevels.size(); ++i) {
    if (kSandboxLevels[i] == name) return static_cast<SandboxLevel>(i);
  }
  return std::nullopt;
}

}  // namespace skerry
