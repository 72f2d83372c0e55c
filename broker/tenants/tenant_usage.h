// What each tenant has had since the broker began: jobs by outcome, refusals by reason, time and bytes.
//
//   usage.Accepted(tenant, bytes);
//   usage.Ended(tenant, final, bytes);
//   const TenantUsage* of_acme = usage.Find(TenantId("acme"));
//
// Names are the clients' to choose, so their number is bounded: past kMaxTenants the one that has not been
// heard of for longest is let go, and what it has had is added to the others'. Nothing is ever lost from the
// sum.
//
// Threads: the core's. Memory: some 700 bytes a tenant, nothing for a job. Errors: none.
#pragma once

#include <array>
#include <cstdint>
#include <list>
#include <set>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "broker/metrics/counters.h"
#include "common/ids.h"
#include "common/limits.h"
#include "common/outcome.h"
#include "common/wire/messages.h"

namespace skerry::broker {

struct TenantUsage {
  std::uint64_t accepted = 0;
  std::array<std::uint64_t, kRejectionCount> refused{};  ///< by Rejection
  std::uint64_t ok = 0;
  std::array<std::uint64_t, kCodeCount> errors{};  ///< of accepted jobs, by Code
  std::array<std::uint64_t, kLimitCount> trips{};  ///< by LimitId, once per job and limit
  std::uint64_t wall_us = 0;
  std::uint64_t cpu_us = 0;
  std::uint64_t in_bytes = 0;    ///< code and input of accepted jobs
  std::uint64_t out_bytes = 0;   ///< values and error texts
  std::uint64_t data_bytes = 0;  ///< answers to host calls

  TenantUsage& operator+=(const TenantUsage& more);
  bool operator==(const TenantUsage&) const = default;
};

class UsageBook {
 public:
  static constexpr std::size_t kMaxTenants = 10'000;

  UsageBook() = default;
  UsageBook(const UsageBook&) = delete;  // its parts point to each other
  UsageBook& operator=(const UsageBook&) = delete;

  void Accepted(const TenantId& tenant, std::uint64_t in_bytes);
  void Refused(const TenantId& tenant, Rejection reason);
  /// An accepted job.
  void Ended(const TenantId& tenant, const wire::Final& final, std::uint64_t out_bytes);

  /// Null: nothing was heard of it, or it was let go.
  const TenantUsage* Find(const TenantId& tenant) const;
  /// Of all that were let go, and of those whose name is none.
  const TenantUsage& others() const { return others_; }
  std::size_t size() const { return tenants_.size(); }
  /// Names behind `after`, in the order of their bytes.
  std::vector<TenantId> After(std::string_view after, std::size_t most) const;

 private:
  using Recent = std::list<const TenantId*>;
  struct Entry {
    TenantUsage usage;
    Recent::iterator place;
  };
  struct ByName {
    using is_transparent = void;
    static std::string_view NameOf(std::string_view name) { return name; }
    static std::string_view NameOf(const TenantId* id) { return id->str(); }
    template <class A, class B>
    bool operator()(const A& a, const B& b) const {
      return NameOf(a) < NameOf(b);
    }
  };

  TenantUsage& Of(const TenantId& tenant);
  void LetOldestGo();

  std::unordered_map<TenantId, Entry> tenants_;
  std::set<const TenantId*, ByName> order_;  // their keys
  Recent recent_;                            // their keys, the last heard of at the end
  TenantUsage others_;
};

}  // namespace skerry::broker
