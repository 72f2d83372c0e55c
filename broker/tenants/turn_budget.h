// How many executions the turns of conversations have had: an agent that loops must come to an end.
//
// Threads: the core's. Memory: kMaxTurns; the turn used longest ago is forgotten, and begins anew.
#pragma once

#include <cstdint>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>

#include "common/ids.h"

namespace skerry::broker {

class TurnBudget {
 public:
  static constexpr std::size_t kMaxTurns = 65'536;

  TurnBudget() = default;
  TurnBudget(const TurnBudget&) = delete;  // places_ points into order_
  TurnBudget& operator=(const TurnBudget&) = delete;

  /// Executions so far.
  std::uint64_t Of(const TenantId& tenant, const TurnId& turn) const;
  void Count(const TenantId& tenant, const TurnId& turn);
  std::size_t size() const { return order_.size(); }

 private:
  struct Entry {
    std::string name;
    std::uint64_t executions = 0;
  };

  std::list<Entry> order_;  // the last used at the end
  std::unordered_map<std::string_view, std::list<Entry>::iterator> places_;
};

}  // namespace skerry::broker
