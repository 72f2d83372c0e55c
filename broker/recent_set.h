// A set that, past a bound, forgets what was touched longest ago.
//
//   RecentSet<std::uint64_t, 512> sent;
//   if (sent.Touch(hash)) ...   // it was there
//
// Threads: none of its own.
#pragma once

#include <cstddef>
#include <list>
#include <unordered_map>

namespace skerry::broker {

template <class T, std::size_t kMax>
class RecentSet {
 public:
  /// Adds it, or makes it the most recent. Whether it was there.
  bool Touch(const T& value) {
    if (const auto found = places_.find(value); found != places_.end()) {
      order_.splice(order_.end(), order_, found->second);
      return true;
    }
    places_.emplace(value, order_.insert(order_.end(), value));
    if (order_.size() > kMax) {
      places_.erase(order_.front());
      order_.pop_front();
    }
    return false;
  }
  std::size_t size() const { return order_.size(); }

 private:
  std::list<T> order_;  // the most recent last
  std::unordered_map<T, typename std::list<T>::iterator> places_;
};

}  // namespace skerry::broker
