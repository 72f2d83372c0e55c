// What an operator lets each tenant have: tenants.toml, read at the start and again on SIGHUP.
//
//   [default]                 # of tenants that are not named, and of what these leave open
//   weight = 1
//   [tenants."acme"]
//   weight = 4
//   max_concurrent = 100
//   [tenants."acme".ceilings]
//   timeoutMs = 10000
//
// Threads: plain data. Errors: every fault of a file at once, one a line, with file and line; nothing of a
// file with a fault is taken.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "broker/jobs/library_names.h"
#include "broker/queue/fair_queue.h"
#include "broker/tenants/rate_limit.h"
#include "common/ids.h"
#include "common/limits.h"
#include "common/result.h"
#include "common/units.h"

namespace skerry::config {
struct ConfigFile;
}

namespace skerry::broker {

struct TenantPolicy {
  Share share;
  Rate rate;       ///< of its jobs
  Rate user_rate;  ///< of the jobs of each of its users
  /// Executions of one turn where a job names none, and the most that a job can name; 0: no bound.
  std::uint64_t turn_executions = 0;
  /// Beside the pool's: the smaller one counts. kUnlimited: the pool's.
  std::unordered_map<std::string_view, std::uint64_t> ceilings;  // by the names of kLimitSpecs
  std::optional<LibraryNames> libraries;                         ///< sorted; none: all that workers have
  bool wasm = true;                                              ///< where the pool allows it
  std::optional<Millis> retention;  ///< instead of session_ttl, for clients that say this tenant in HELLO

  Ceilings CeilingsBelow(const Ceilings& pools) const;
};

class Tenants {
 public:
  const TenantPolicy& Of(const TenantId& tenant) const;
  std::size_t named() const { return named_.size(); }
  bool IsNamed(const TenantId& tenant) const { return named_.contains(tenant); }
  /// Named ones behind `after`, in the order of their bytes.
  std::vector<TenantId> After(std::string_view after, std::size_t most) const;

  static Result<Tenants> Read(const std::string& path);
  /// `name` is what faults call it.
  static Result<Tenants> Parse(std::string_view text, const std::string& name);

 private:
  static Result<Tenants> From(const config::ConfigFile& file);

  TenantPolicy default_;
  std::unordered_map<TenantId, TenantPolicy> named_;
  std::vector<TenantId> names_;  // of these, in order
};

}  // namespace skerry::broker
