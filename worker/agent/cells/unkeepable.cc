#include "worker/agent/cells/unkeepable.h"

namespace skerry::agent {

void UnkeepablePrograms::Add(const std::string& key, TimePoint now, Millis remembered_for) {
  if (const auto known = by_key_.find(key); known != by_key_.end()) Forget(known->second);
  if (by_key_.size() >= max_programs_ && !entries_.empty()) Forget(entries_.begin());
  if (max_programs_ == 0) return;
  by_key_[key] = entries_.insert(entries_.end(), {key, now + remembered_for});
}

bool UnkeepablePrograms::Contains(const std::string& key, TimePoint now) {
  const auto known = by_key_.find(key);
  if (known == by_key_.end()) return false;
  if (now >= known->second->until) {
    Forget(known->second);
    return false;
  }
  entries_.splice(entries_.end(), entries_, known->second);
  return true;
}

void UnkeepablePrograms::Forget(Entries::iterator entry) {
  by_key_.erase(entry->key);
  entries_.erase(entry);
}

}  // namespace skerry::agent
