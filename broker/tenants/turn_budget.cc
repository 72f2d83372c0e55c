#include "broker/tenants/turn_budget.h"

namespace skerry::broker {
namespace {

/// Ids hold no control characters: the NUL keeps the two apart.
std::string NameOf(const TenantId& tenant, const TurnId& turn) {
  return tenant.str() + '\0' + turn.str();
}

}  // namespace

std::uint64_t TurnBudget::Of(const TenantId& tenant, const TurnId& turn) const {
  const auto found = places_.find(NameOf(tenant, turn));
  return found == places_.end() ? 0 : found->second->executions;
}

void TurnBudget::Count(const TenantId& tenant, const TurnId& turn) {
  const std::string name = NameOf(tenant, turn);
  auto found = places_.find(name);
  if (found == places_.end()) {
    const auto place = order_.insert(order_.end(), Entry{name, 0});
    found = places_.emplace(place->name, place).first;
    if (order_.size() > kMaxTurns) {
      places_.erase(order_.front().name);
      order_.pop_front();
    }
  } else {
    order_.splice(order_.end(), order_, found->second);
  }
  ++found->second->executions;
}

}  // namespace skerry::broker
