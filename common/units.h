// Units that the compiler checks: sizes in bytes here, times as std::chrono.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>

namespace skerry {

using Millis = std::chrono::milliseconds;
using Micros = std::chrono::microseconds;

/// The clock of everything that waits. Pure cores take time points as arguments and never read it.
using SteadyClock = std::chrono::steady_clock;
using TimePoint = SteadyClock::time_point;

/// A size in bytes. Range: 0 to 2^64-1; arithmetic is the caller's to keep in range.
class Bytes {
 public:
  constexpr Bytes() = default;
  constexpr explicit Bytes(std::uint64_t count) : count_(count) {}

  static constexpr Bytes MiB(std::uint64_t n) { return Bytes(n << 20); }
  static constexpr Bytes KiB(std::uint64_t n) { return Bytes(n << 10); }

  constexpr std::uint64_t count() const { return count_; }
  constexpr std::uint64_t mib() const { return count_ >> 20; }

  constexpr auto operator<=>(const Bytes&) const = default;
  constexpr Bytes operator+(Bytes other) const { return Bytes(count_ + other.count_); }
  /// Saturates at zero: sizes never go negative.
  constexpr Bytes operator-(Bytes other) const {
    return Bytes(count_ > other.count_ ? count_ - other.count_ : 0);
  }
  constexpr Bytes& operator+=(Bytes other) { return *this = *this + other; }
  constexpr Bytes& operator-=(Bytes other) { return *this = *this - other; }

 private:
  std::uint64_t count_ = 0;
};

/// Milliseconds between two instants as a fraction, for usage reports.
inline double MillisBetween(TimePoint from, TimePoint to) {
  return std::chrono::duration<double, std::milli>(to - from).count();
}

}  // namespace skerry
