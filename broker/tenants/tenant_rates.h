// How often a tenant, and each of its users, may submit: decided here alone, by what all brokers share in
// Redis, or, while that is lost, by this broker's share.
//
//   const RateDecision decision = rates.Take(AskOf(tenant, user, policy), now);
//   if (decision.wait) ... refuse, come again after decision.wait->time
//
//              Share(kShared)            Share(kLost)
//   kAlone  ──────────────────> kShared <────────────> kLost
//   (no Redis: whole rates)     (verdicts)             (rate / brokers)
//
// A verdict of Redis is given before the job that it is about (Expect); what the job did not need of it is
// taken back (TakeUnused). What Redis lets through is noted here, so that a loss gives nobody another burst.
//
// Threads: the core's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "broker/metrics/gauges.h"
#include "broker/tenants/rate_limit.h"
#include "common/ids.h"
#include "common/units.h"

namespace skerry::broker {

struct TenantPolicy;

/// Whose rates a job counts in. A rate of 0 is none.
struct RateAsk {
  std::string tenant;
  Rate tenant_rate;
  std::string user;  ///< its tenant, a NUL (which no id has), and the user
  Rate user_rate;
};

/// None: the job has no rate.
std::optional<RateAsk> AskOf(const TenantId& tenant, const UserId& user, const TenantPolicy& policy);

enum class RateOwner : bool { kTenant, kUser };
struct RateWait {
  RateOwner owner = RateOwner::kTenant;
  Millis time{0};
  bool operator==(const RateWait&) const = default;
};
/// What Redis says of an ask. No wait: it has been counted.
struct RateVerdict {
  std::optional<RateWait> wait;
};

enum class RateSharing : std::uint8_t { kAlone, kShared, kLost };
/// Who has decided: what is counted.
enum class RateDecider : std::uint8_t { kNobody, kRedis, kShare };
struct RateDecision {
  std::optional<RateWait> wait;
  RateDecider decider = RateDecider::kNobody;
};

class TenantRates {
 public:
  /// Lets one more through, or says when it may come again; `ask` none: it may.
  RateDecision Take(const std::optional<RateAsk>& ask, TimePoint now);

  /// `brokers`: how many there are, 1 and up.
  void Share(RateSharing sharing, std::uint64_t brokers);
  /// Of the next ask.
  void Expect(const RateVerdict& verdict) { verdict_ = verdict; }
  /// Whether nobody has asked since.
  bool TakeUnused();

  RateSharing sharing() const { return sharing_; }
  RateSums sums() const {
    return {sharing_ == RateSharing::kShared, sharing_ == RateSharing::kAlone ? 0 : brokers_};
  }

 private:
  RateSharing sharing_ = RateSharing::kAlone;
  std::uint64_t brokers_ = 1;
  std::optional<RateVerdict> verdict_;
  RateLimiter tenants_;
  RateLimiter users_;
};

}  // namespace skerry::broker
