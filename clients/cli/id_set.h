// Which job ids were seen, for millions of them: 16 bytes of hash each, never the ids themselves.
//
// An id is its SHA-256 cut to 128 bits: two of 10^9 ids collide with a chance of 10^-21, and nobody can make
// them. Open addressing, at most 70 % full: 24 to 48 bytes per id, growth included.
//
// Threads: one.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace skerry::cli {

class IdSet {
 public:
  IdSet();
  /// False when it was there already.
  bool Insert(std::string_view id);
  bool Contains(std::string_view id) const;
  std::size_t size() const { return size_; }

 private:
  using Key = std::array<std::uint64_t, 2>;  // {0, 0}: an empty place
  static Key KeyOf(std::string_view id);
  std::size_t PlaceOf(const Key& key) const;
  void Grow();

  std::vector<Key> places_;  // a power of two of them
  std::size_t size_ = 0;
};

}  // namespace skerry::cli
