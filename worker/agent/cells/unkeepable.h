// Programs whose evaluated state could not be kept: for a while nobody tries again.
//
// Not for ever: a busy machine looks like a program's fault. Past the bound the one longest unasked-for is
// forgotten.
//
// Threads: plain data with an injected clock, one owner. Errors: none.
#pragma once

#include <cstddef>
#include <list>
#include <string>
#include <unordered_map>

#include "common/units.h"

namespace skerry::agent {

class UnkeepablePrograms {
 public:
  explicit UnkeepablePrograms(std::size_t max_programs) : max_programs_(max_programs) {}

  void Add(const std::string& key, TimePoint now, Millis remembered_for);
  bool Contains(const std::string& key, TimePoint now);
  std::size_t size() const { return by_key_.size(); }

 private:
  struct Entry {
    std::string key;
    TimePoint until;
  };
  using Entries = std::list<Entry>;

  void Forget(Entries::iterator entry);

  const std::size_t max_programs_;
  Entries entries_;  // longest unasked-for first
  std::unordered_map<std::string, Entries::iterator> by_key_;
};

}  // namespace skerry::agent
