#include "broker/tenants/tenant_rates.h"

#include <algorithm>
#include <utility>

#include "broker/tenants/tenants.h"

namespace skerry::broker {

std::optional<RateAsk> AskOf(const TenantId& tenant, const UserId& user, const TenantPolicy& policy) {
  const Rate user_rate = user.empty() ? Rate() : policy.user_rate;
  if (policy.rate.per_second == 0 && user_rate.per_second == 0) return std::nullopt;
  return RateAsk{tenant.str(), policy.rate, tenant.str() + '\0' + user.str(), user_rate};
}

RateDecision TenantRates::Take(const std::optional<RateAsk>& ask, TimePoint now) {
  const auto verdict = std::exchange(verdict_, std::nullopt);
  if (!ask) return {};
  Rate tenant_rate = ask->tenant_rate;
  Rate user_rate = ask->user_rate;
  tenant_rate.brokers = user_rate.brokers = brokers_;
  if (verdict) {
    if (verdict->wait) return {verdict->wait, RateDecider::kRedis};
    tenants_.Note(ask->tenant, tenant_rate, now);
    users_.Note(ask->user, user_rate, now);
    return {std::nullopt, RateDecider::kRedis};
  }
  const RateDecider decider = sharing_ == RateSharing::kAlone ? RateDecider::kNobody : RateDecider::kShare;
  if (const auto wait = tenants_.WaitOf(ask->tenant, tenant_rate, now))
    return {RateWait{RateOwner::kTenant, *wait}, decider};
  if (const auto wait = users_.WaitOf(ask->user, user_rate, now))
    return {RateWait{RateOwner::kUser, *wait}, decider};
  tenants_.Take(ask->tenant, tenant_rate, now);
  users_.Take(ask->user, user_rate, now);
  return {std::nullopt, decider};
}

void TenantRates::Share(RateSharing sharing, std::uint64_t brokers) {
  sharing_ = sharing;
  brokers_ = std::max<std::uint64_t>(1, brokers);
}

bool TenantRates::TakeUnused() {
  return std::exchange(verdict_, std::nullopt).has_value();
}

}  // namespace skerry::broker
