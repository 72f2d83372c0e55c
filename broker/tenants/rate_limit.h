// How often: a generic cell rate algorithm (ITU-T I.371) for each of many names, in memory.
//
//   if (const auto wait = limiter.WaitOf(name, rate, now)) ... refuse, come again after *wait
//   limiter.Take(name, rate, now);
//
// A name that has not been heard of may begin with a whole burst; after that one is let through each
// 1 / per_second. One instant for each name is all that is kept.
//
// Threads: the core's. Memory: kMaxNames; the name used longest ago is forgotten, and begins anew.
#pragma once

#include <chrono>
#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "common/units.h"

namespace skerry::broker {

struct Rate {
  std::uint64_t per_second = 0;  ///< 0: no limit
  std::uint64_t burst = 1;       ///< at once, after a pause; 1 and up
  /// How many brokers enforce it, each its share: of the rate exactly, of the burst at least 1.
  std::uint64_t brokers = 1;
};

/// Between two of a name that has used up its burst.
std::chrono::nanoseconds Interval(const Rate& rate);
/// The burst of one of its brokers.
std::uint64_t BurstOf(const Rate& rate);

class RateLimiter {
 public:
  static constexpr std::size_t kMaxNames = 65'536;

  RateLimiter() = default;
  RateLimiter(const RateLimiter&) = delete;  // places_ points into order_
  RateLimiter& operator=(const RateLimiter&) = delete;

  /// How long until one more is let through; none: now.
  std::optional<Millis> WaitOf(const std::string& name, const Rate& rate, TimePoint now) const;
  void Take(const std::string& name, const Rate& rate, TimePoint now);
  /// One that somebody else let through: it counts, but never makes the name wait longer than after a whole
  /// burst.
  void Note(const std::string& name, const Rate& rate, TimePoint now);
  std::size_t size() const { return order_.size(); }

 private:
  struct Entry {
    std::string name;
    TimePoint due;  // when it would have had what it has taken, at its rate
  };

  Entry& Touch(const std::string& name, TimePoint now);

  std::list<Entry> order_;  // the last used at the end
  std::unordered_map<std::string_view, std::list<Entry>::iterator> places_;
};

}  // namespace skerry::broker
