// Random numbers that are the same for a seed on every machine and library: splitmix64 (Steele, Lea, Flood
// 2014). The standard's distributions are not.
//
// Threads: one owner each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace skerry::fuzz {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t Next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  /// 0 to `bound` - 1; 0 where `bound` is 0.
  std::size_t Below(std::size_t bound) { return bound == 0 ? 0 : static_cast<std::size_t>(Next() % bound); }
  bool OneIn(std::size_t n) { return Below(n) == 0; }
  std::string Bytes(std::size_t count) {
    std::string bytes(count, '\0');
    for (char& byte : bytes) byte = static_cast<char>(Next());
    return bytes;
  }

 private:
  std::uint64_t state_;
};

}  // namespace skerry::fuzz
