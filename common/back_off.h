// How long to wait before trying again: doubles from `first` to `longest`, until something works.
//
// Threads: plain data. Errors: none.
#pragma once

#include <algorithm>

#include "common/units.h"

namespace skerry {

class BackOff {
 public:
  BackOff(Millis first, Millis longest) : first_(first), longest_(longest), next_(first) {}

  /// The next delay. It is longer than the one before, up to the longest.
  Millis Next() {
    ++failures_;
    const Millis delay = next_;
    next_ = std::min(longest_, next_ * 2);
    return delay;
  }
  void Reset() {
    next_ = first_;
    failures_ = 0;
  }
  /// Calls of Next since the last Reset.
  int failures() const { return failures_; }

 private:
  Millis first_;
  Millis longest_;
  Millis next_;
  int failures_ = 0;
};

}  // namespace skerry
