// Keeps one kind of log line from flooding: a burst, then so many a second; what was held back is counted and
// told with the next line of its kind.
//
//   if (const auto held_back = limiter.Admit(message.c_str(), now)) write, with *held_back
//
// Kinds are the addresses of constant messages, so there are as many as there are places that log.
//
// Threads: one at a time; the caller locks. Errors: none.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_map>

#include "common/units.h"

namespace skerry {

class LogLimiter {
 public:
  /// Enough for every worker and client of a pool to come or go at once.
  static constexpr std::uint32_t kBurst = 100;
  static constexpr std::uint32_t kPerSecond = 10;

  /// How many lines of this kind were held back before this one; nothing: hold this one back, too.
  std::optional<std::uint64_t> Admit(const char* kind, TimePoint now) {
    auto [found, fresh] = kinds_.try_emplace(kind);
    Kind& one = found->second;
    if (fresh) one.since = now;
    const std::chrono::duration<double> passed = std::max(now - one.since, SteadyClock::duration(0));
    one.since = std::max(one.since, now);
    one.tokens = std::min<double>(kBurst, one.tokens + passed.count() * kPerSecond);
    if (one.tokens < 1) {
      ++one.held_back;
      return std::nullopt;
    }
    one.tokens -= 1;
    return std::exchange(one.held_back, 0);
  }

 private:
  struct Kind {
    double tokens = kBurst;
    TimePoint since;
    std::uint64_t held_back = 0;
  };
  std::unordered_map<const char*, Kind> kinds_;
};

}  // namespace skerry
