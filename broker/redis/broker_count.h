// How many brokers share the rates, by what Redis says: it goes up at once, and after a time without Redis
// down only once all that are there can have said so. A Redis that was started anew knows none at first.
//
// Threads: plain data.
#pragma once

#include <algorithm>
#include <cstdint>

#include "broker/redis/rate_script.h"
#include "common/units.h"

namespace skerry::broker {

class BrokerCount {
 public:
  /// `assumed`: until Redis has said anything.
  explicit BrokerCount(std::uint64_t assumed) : count_(assumed) {}

  /// Redis is back: what it says is believed downwards a window from now.
  void OnUp(TimePoint now) { believed_from_ = now + kBrokerWindow; }
  void OnTold(std::uint64_t count, TimePoint now) {
    count_ = now < believed_from_ ? std::max(count_, count) : count;
  }
  std::uint64_t count() const { return count_; }

 private:
  std::uint64_t count_;
  TimePoint believed_from_;
};

}  // namespace skerry::broker
