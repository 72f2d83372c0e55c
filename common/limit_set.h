// Which limits a job has tripped: a set of LimitIds, each in it once.
//
// Threads: plain data. Errors: none; names that no limit has are ignored by whoever reads them.
#pragma once

#include <cstdint>

#include "common/limits.h"

namespace skerry {

class LimitSet {
 public:
  constexpr LimitSet() = default;
  /// True: it was not in it before.
  constexpr bool Add(LimitId id) {
    const std::uint32_t before = bits_;
    bits_ |= Bit(id);
    return bits_ != before;
  }
  constexpr void AddAll(const LimitSet& other) { bits_ |= other.bits_; }
  constexpr bool Has(LimitId id) const { return (bits_ & Bit(id)) != 0; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr bool operator==(const LimitSet&) const = default;

 private:
  static_assert(kLimitCount <= 32);
  static constexpr std::uint32_t Bit(LimitId id) { return std::uint32_t{1} << static_cast<unsigned>(id); }
  std::uint32_t bits_ = 0;
};

}  // namespace skerry
