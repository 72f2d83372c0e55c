// How much to fuzz and from which seed: SKERRY_FUZZ_SEED (printed by every failure) and SKERRY_FUZZ_MUTATIONS
// (per message type).
//
// Threads: pure look-ups.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>

namespace skerry::fuzz {

inline std::uint64_t FromEnvironment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 0);
}

struct Campaign {
  std::uint64_t seed = FromEnvironment("SKERRY_FUZZ_SEED", 1);
  std::size_t mutations = FromEnvironment("SKERRY_FUZZ_MUTATIONS", 10'000);

  /// Of one message type: the same whichever types were tried before.
  std::uint64_t SeedOf(const std::string& type) const {
    std::uint64_t hash = seed ^ 0xcbf29ce484222325ull;  // FNV-1a
    for (const char c : type) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
    return hash;
  }
  std::string Shown(const std::string& type) const {
    return type + ", SKERRY_FUZZ_SEED=" + std::to_string(seed);
  }
};

/// A probe job after so many mutations.
inline constexpr std::size_t kProbeEvery = 100;

}  // namespace skerry::fuzz
