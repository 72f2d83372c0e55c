// When jobs come again that a tenant's or a user's `rate` has refused: one after the other, as far apart as
// their broker says that one has to wait, so that a thousand of them do not come in the same instant and be
// refused again.
//
//   if (WaitsForRate(final.code, final.limit, final.retry_after_ms)) due = pace.DueOf(tenant, wait, now);
//
// A job never waits longer for its turn than the rate itself would have it wait: the wait that is told is at
// most what one job costs.
//
// Threads: one. Memory: an instant for each name that has jobs waiting. Errors: none.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "common/outcome.h"
#include "common/units.h"

namespace skerry::client {

/// Whether a refusal passes by itself as others of its name are let through: of rates, not of what crashed
/// too often or has had its turns.
bool WaitsForRate(Code code, std::string_view limit, std::uint32_t retry_after_ms);

class RatePace {
 public:
  /// `who`: whom the rate is of. `wait`: what the refusal told, at least 1 ms.
  TimePoint DueOf(const std::string& who, Millis wait, TimePoint now);
  std::size_t size() const { return last_.size(); }

 private:
  void ForgetPast(TimePoint now);

  std::unordered_map<std::string, TimePoint> last_;  // the last one that is due
  std::size_t forget_at_ = 64;
};

}  // namespace skerry::client
