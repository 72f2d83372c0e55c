// Which code the link to a broker has carried already, and when: it need not carry that again.
//
//   CarriedCode carried;
//   carried.Note(CarriedCode::KeyOf(spec), 17);   // the 17th SUBMIT brought it
//   carried.At(key);                              // 17; 0: not that we know
//
// It remembers the last kMostCarried; what it has forgotten is sent again. The broker may have forgotten
// more: then it says NEED. Code is named per tenant, as the broker keeps it.
//
// Threads: one.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>

#include "common/job.h"

namespace skerry::client {

/// Some 100 bytes each.
inline constexpr std::size_t kMostCarried = 4096;

class CarriedCode {
 public:
  static std::string KeyOf(const JobSpec& spec) { return spec.code_hash + spec.tenant.str(); }

  /// The SUBMIT that brought it last, by number from 1; 0: none that is remembered.
  std::uint64_t At(const std::string& key) const {
    const auto found = at_.find(key);
    return found == at_.end() ? 0 : found->second;
  }
  void Note(const std::string& key, std::uint64_t submit) {
    const auto [entry, is_new] = at_.insert_or_assign(key, submit);
    if (!is_new) return;
    order_.push_back(key);
    if (order_.size() <= kMostCarried) return;
    at_.erase(order_.front());
    order_.pop_front();
  }
  void Clear() {
    at_.clear();
    order_.clear();
  }

 private:
  std::unordered_map<std::string, std::uint64_t> at_;
  std::deque<std::string> order_;  // of first notes: the oldest is forgotten first
};

}  // namespace skerry::client
