// A set that forgets its oldest members past a bound.
//
// Threads: none of its own.
#pragma once

#include <cstddef>
#include <deque>
#include <unordered_set>

namespace skerry::broker {

template <class T, std::size_t kMax>
class BoundedSet {
 public:
  void Add(const T& value) {
    if (!members_.insert(value).second) return;
    order_.push_back(value);
    if (order_.size() <= kMax) return;
    members_.erase(order_.front());
    order_.pop_front();
  }
  bool Contains(const T& value) const { return members_.contains(value); }
  std::size_t size() const { return members_.size(); }

 private:
  std::unordered_set<T> members_;
  std::deque<T> order_;
};

}  // namespace skerry::broker
