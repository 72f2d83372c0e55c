#include "broker/tenants/tenant_usage.h"

#include <algorithm>

#include "broker/jobs/limit_trips.h"

namespace skerry::broker {
namespace {

// A worker's figures are its word: none may distort a sum for good.
constexpr std::uint64_t kMostDataBytes = std::uint64_t{1} << 40;

template <class Counts>
void AddEach(Counts& sums, const Counts& more) {
  std::transform(sums.begin(), sums.end(), more.begin(), sums.begin(), std::plus<>());
}

std::uint64_t Micros64(double millis) {
  return static_cast<std::uint64_t>(PlausibleTime(millis).count());
}

}  // namespace

TenantUsage& TenantUsage::operator+=(const TenantUsage& more) {
  accepted += more.accepted;
  AddEach(refused, more.refused);
  ok += more.ok;
  AddEach(errors, more.errors);
  AddEach(trips, more.trips);
  wall_us += more.wall_us;
  cpu_us += more.cpu_us;
  in_bytes += more.in_bytes;
  out_bytes += more.out_bytes;
  data_bytes += more.data_bytes;
  return *this;
}

void UsageBook::Accepted(const TenantId& tenant, std::uint64_t in_bytes) {
  TenantUsage& usage = Of(tenant);
  ++usage.accepted;
  usage.in_bytes += in_bytes;
}

void UsageBook::Refused(const TenantId& tenant, Rejection reason) {
  ++Of(tenant).refused[static_cast<std::size_t>(reason)];
}

void UsageBook::Ended(const TenantId& tenant, const wire::Final& final, std::uint64_t out_bytes) {
  TenantUsage& usage = Of(tenant);
  ++(final.ok ? usage.ok : usage.errors[static_cast<std::size_t>(final.code)]);
  const LimitSet tripped = TripsOf(final);
  for (const LimitSpec& limit : kLimitSpecs) {
    if (tripped.Has(limit.id)) ++usage.trips[static_cast<std::size_t>(limit.id)];
  }
  usage.wall_us += Micros64(final.usage.wall_ms);
  usage.cpu_us += Micros64(final.usage.cpu_ms);
  usage.out_bytes += out_bytes;
  usage.data_bytes += std::min(final.usage.data_bytes, kMostDataBytes);
}

const TenantUsage* UsageBook::Find(const TenantId& tenant) const {
  const auto found = tenants_.find(tenant);
  return found == tenants_.end() ? nullptr : &found->second.usage;
}

std::vector<TenantId> UsageBook::After(std::string_view after, std::size_t most) const {
  std::vector<TenantId> names;
  for (auto at = order_.upper_bound(after); at != order_.end() && names.size() < most; ++at)
    names.push_back(**at);
  return names;
}

TenantUsage& UsageBook::Of(const TenantId& tenant) {
  // A name that no job is accepted under is no tenant.
  if (tenant.empty() || !IsPrintableId(tenant.str())) return others_;
  if (const auto found = tenants_.find(tenant); found != tenants_.end()) {
    recent_.splice(recent_.end(), recent_, found->second.place);
    return found->second.usage;
  }
  if (tenants_.size() >= kMaxTenants) LetOldestGo();
  auto& [name, entry] = *tenants_.try_emplace(tenant).first;
  entry.place = recent_.insert(recent_.end(), &name);
  order_.insert(&name);
  return entry.usage;
}

void UsageBook::LetOldestGo() {
  const TenantId* name = recent_.front();
  const auto found = tenants_.find(*name);
  others_ += found->second.usage;
  recent_.pop_front();
  order_.erase(name);
  tenants_.erase(found);
}

}  // namespace skerry::broker
