#include "worker/agent/cells/broken_libraries.h"

namespace skerry::agent {

BrokenLibraries::News BrokenLibraries::Add(const std::string& key, const Libraries& libraries,
                                           TimePoint now) {
  if (const auto known = by_key_.find(key); known != by_key_.end()) {
    known->second->retry_at = now + known->second->back_off.Next();
    known->second->trying = false;
    return News::kAgain;
  }
  if (options_.most == 0) return News::kFirst;
  if (by_key_.size() >= options_.most) Forget(combinations_.begin());
  Combination combination{key, libraries, BackOff(options_.first_delay, options_.longest_delay)};
  combination.retry_at = now + combination.back_off.Next();
  by_key_[key] = combinations_.insert(combinations_.end(), std::move(combination));
  return News::kFirst;
}

bool BrokenLibraries::Ask(const std::string& key) {
  const auto known = by_key_.find(key);
  if (known == by_key_.end()) return false;
  known->second->asked = true;
  combinations_.splice(combinations_.end(), combinations_, known->second);
  return true;
}

bool BrokenLibraries::Remove(const std::string& key) {
  const auto known = by_key_.find(key);
  if (known == by_key_.end()) return false;
  Forget(known->second);
  return true;
}

void BrokenLibraries::GiveUp(const std::string& key) {
  if (const auto known = by_key_.find(key); known != by_key_.end()) known->second->trying = false;
}

std::optional<TimePoint> BrokenLibraries::NextRetry() const {
  std::optional<TimePoint> next;
  for (const Combination& combination : combinations_) {
    if (combination.waits() && (!next || combination.retry_at < *next)) next = combination.retry_at;
  }
  return next;
}

std::vector<std::pair<std::string, Libraries>> BrokenLibraries::TakeDue(TimePoint now) {
  std::vector<std::pair<std::string, Libraries>> due;
  for (Combination& combination : combinations_) {
    if (!combination.waits() || combination.retry_at > now) continue;
    combination.trying = true;
    combination.asked = false;
    due.emplace_back(combination.key, combination.libraries);
  }
  return due;
}

void BrokenLibraries::Forget(Combinations::iterator combination) {
  by_key_.erase(combination->key);
  combinations_.erase(combination);
}

}  // namespace skerry::agent
