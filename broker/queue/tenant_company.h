// Which tenants have submitted anything lately: only for them room has to be left.
//
// Threads: the core's. Memory: kKnown names. Errors: none.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "common/ids.h"
#include "common/units.h"

namespace skerry::broker {

class TenantCompany {
 public:
  /// How long who has submitted something is thought to come again: room in the queue is his for longer than
  /// a place, which is idle meanwhile.
  static constexpr Millis kLately{60'000};
  static constexpr Millis kInAMoment{10'000};
  /// Of more tenants than this the last ones are enough to know.
  static constexpr std::size_t kKnown = 8;

  void Saw(const TenantId& tenant, TimePoint now) {
    const auto known = std::find_if(seen_.begin(), seen_.begin() + static_cast<std::ptrdiff_t>(size_),
                                    [&](const Seen& seen) { return seen.tenant == tenant; });
    auto last = known;
    if (known == seen_.begin() + static_cast<std::ptrdiff_t>(size_)) {
      size_ = std::min(size_ + 1, kKnown);
      last = seen_.begin() + static_cast<std::ptrdiff_t>(size_ - 1);
      last->tenant = tenant;
    }
    last->at = now;
    std::rotate(seen_.begin(), last, last + 1);
  }
  /// Whether others than `tenant` were seen since so long, one of which is `wanted`.
  template <class Wanted>
  bool HasOther(const TenantId& tenant, TimePoint now, Millis within, Wanted wanted) const {
    for (std::size_t i = 0; i < size_ && now - seen_[i].at < within; ++i) {
      if (seen_[i].tenant != tenant && wanted(seen_[i].tenant)) return true;
    }
    return false;
  }

 private:
  struct Seen {
    TenantId tenant;
    TimePoint at{};
  };
  std::array<Seen, kKnown> seen_;  // the last first
  std::size_t size_ = 0;
};

}  // namespace skerry::broker
