// Whether other tenants than one have submitted anything lately: only then is there anybody to leave room
// for.
//
// Threads: the core's. Memory: two names. Errors: none.
#pragma once

#include "common/ids.h"
#include "common/units.h"

namespace skerry::broker {

class TenantCompany {
 public:
  /// How long who has submitted something is thought to come again.
  static constexpr Millis kLately{60'000};

  void Saw(const TenantId& tenant, TimePoint now) {
    if (tenant != last_) {
      before_ = last_;
      before_at_ = last_at_;
      last_ = tenant;
    }
    last_at_ = now;
  }
  /// Of a tenant that was just seen.
  bool HasOthers(TimePoint now) const { return before_at_ != TimePoint() && now - before_at_ < kLately; }

 private:
  TenantId last_, before_;
  TimePoint last_at_{}, before_at_{};
};

}  // namespace skerry::broker
