#include "broker/queue/cost_model.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

namespace skerry::broker {
namespace {

constexpr double kUsPerMs = 1'000;

std::uint64_t OfTenant(const Job& job) {
  return job.account ? std::hash<TenantId>()(job.account->tenant) : 0;
}

/// The same program of another tenant is another.
std::uint64_t OfProgram(const Job& job) {
  std::uint64_t part = 0;
  if (job.code_hash != nullptr) std::memcpy(&part, job.code_hash->data(), sizeof(part));
  return (OfTenant(job) + 1) * 0x9e3779b97f4a7c15ull ^ part;
}

/// What a run of it could use at the very most: two runs of its time.
double MostUs(const Job& job) {
  if (!job.terms) return kUsPerMs * 1e6;
  return 2 * kUsPerMs * static_cast<double>(job.limits().timeout_ms());
}

}  // namespace

const CostModel::Average* CostModel::Find(Name name) const {
  const auto found = known_.find(name);
  return found == known_.end() ? nullptr : &*found->second;
}

std::uint64_t CostModel::Estimate(const Job& job) const {
  const Average* known = job.code_hash == nullptr ? nullptr : Find(OfProgram(job));
  if (known == nullptr) known = Find(OfTenant(job));
  return known == nullptr ? of_all_us_ : known->us;
}

std::uint64_t CostModel::Of(const Job& job, double slot_ms) {
  const double used = std::isfinite(slot_ms) ? std::clamp(slot_ms * kUsPerMs, 0.0, MostUs(job)) : 0.0;
  return std::max(kLeastUs, static_cast<std::uint64_t>(used));
}

std::uint64_t CostModel::Learn(const Job& job, double slot_ms) {
  const std::uint64_t us = Of(job, slot_ms);
  if (job.code_hash != nullptr) Add(OfProgram(job), us);
  Add(OfTenant(job), us);
  of_all_us_ = (127 * of_all_us_ + us) / 128;
  return us;
}

void CostModel::Add(Name name, std::uint64_t us) {
  if (const auto found = known_.find(name); found != known_.end()) {
    std::uint64_t& average = found->second->us;
    average = (3 * average + us) / 4;
    order_.splice(order_.end(), order_, found->second);
    return;
  }
  known_.emplace(name, order_.insert(order_.end(), {name, us}));
  if (order_.size() <= kMaxKnown) return;
  known_.erase(order_.front().name);
  order_.pop_front();
}

}  // namespace skerry::broker
