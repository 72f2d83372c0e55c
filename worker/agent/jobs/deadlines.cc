#include "worker/agent/jobs/deadlines.h"

namespace skerry::agent {

Deadlines::Handle& Deadlines::Handle::operator=(Handle&& other) noexcept {
  if (this != &other) {
    Cancel();
    owner_ = std::exchange(other.owner_, nullptr);
    key_ = other.key_;
  }
  return *this;
}

void Deadlines::Handle::Cancel() {
  if (owner_ != nullptr) std::exchange(owner_, nullptr)->entries_.erase(key_);
}

Deadlines::Handle Deadlines::At(TimePoint when, std::function<void()> action) {
  const Key key{when, sequence_++};
  const auto entry = entries_.emplace(key, std::move(action)).first;
  if (on_earlier_ && entry == entries_.begin()) on_earlier_(when);
  return Handle(this, key);
}

std::optional<TimePoint> Deadlines::Next() const {
  if (entries_.empty()) return std::nullopt;
  return entries_.begin()->first.first;
}

void Deadlines::RunDue(TimePoint now) {
  while (!entries_.empty() && entries_.begin()->first.first <= now) {
    // Taken out first: the action may destroy its own handle, and with it whatever it captured.
    auto entry = entries_.extract(entries_.begin());
    entry.mapped()();
  }
}

}  // namespace skerry::agent
