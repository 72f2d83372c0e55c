#include "broker/jobs/crash_watch.h"

#include <algorithm>
#include <chrono>
#include <functional>

namespace skerry::broker {
namespace {

/// Ids hold no control characters: the NUL keeps a tenant's name and a hash apart.
std::string NameOf(const Program& program) {
  std::string name = program.tenant + '\0';
  if (!program.code_hash.empty()) return name.append(program.code_hash);
  return name + std::to_string(std::hash<std::string_view>()(program.code));
}

}  // namespace

bool CrashTable::Note(const std::string& name, TimePoint now) {
  ForgetOld(now);
  const auto [found, fresh] = entries_.try_emplace(name);
  Entry& entry = found->second;
  if (fresh) {
    entry.place = order_.insert(order_.end(), &found->first);
  } else {
    order_.splice(order_.end(), order_, entry.place);
  }
  entry.last = now;
  std::vector<TimePoint>& crashes = entry.crashes;
  while (!crashes.empty() && (crashes.front() + window_ <= now || crashes.size() >= threshold_))
    crashes.erase(crashes.begin());
  if (threshold_ > 0) crashes.push_back(now);
  const bool refused = entry.refused_until > now;
  const bool reached = threshold_ > 0 && crashes.size() >= threshold_;
  if (reached) entry.refused_until = now + refusal_;
  if (entries_.size() > most_) ForgetFirst();
  return reached && !refused;
}

std::optional<CrashRefusal> CrashTable::Check(const std::string& name, TimePoint now) const {
  const auto found = entries_.find(name);
  if (found == entries_.end() || found->second.refused_until <= now) return std::nullopt;
  CrashRefusal refusal;
  refusal.crashes = found->second.crashes.size();
  refusal.remaining = std::chrono::ceil<Millis>(found->second.refused_until - now);
  return refusal;
}

void CrashTable::ForgetOld(TimePoint now) {
  const Millis kept = std::max(window_, refusal_);
  while (!order_.empty() && entries_.at(*order_.front()).last + kept <= now) ForgetFirst();
}

void CrashTable::ForgetFirst() {
  entries_.erase(entries_.find(*order_.front()));  // not by its key, which dies with it
  order_.pop_front();
}

std::optional<CrashRefusal> CrashWatch::Note(const Program& program, TimePoint now) {
  const bool program_refused = programs_.Note(NameOf(program), now);
  const bool tenant_refused = tenants_.Note(program.tenant, now);
  if (tenant_refused || program_refused) return Check(program, now);
  return std::nullopt;
}

std::optional<CrashRefusal> CrashWatch::Check(const Program& program, TimePoint now) const {
  if (!tenants_.Knows(program.tenant)) return std::nullopt;
  auto refused = tenants_.Check(program.tenant, now);
  if (refused) refused->of = CrashRefusal::Of::kTenant;
  auto by_program = programs_.Check(NameOf(program), now);
  if (by_program && (!refused || by_program->remaining > refused->remaining)) return by_program;
  return refused;
}

}  // namespace skerry::broker
