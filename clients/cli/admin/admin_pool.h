// What the brokers of a pool say to operators, as one: their workers, and their tenants' sums.
//
// Threads: one. Errors: of the first broker that cannot be asked, since a table that leaves one out would
// lie.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "clients/cpp/admin_link.h"
#include "common/result.h"
#include "common/wire/admin.h"

namespace skerry::cli {

/// Which brokers to ask, and by which keys.
struct AdminPlaces {
  std::vector<std::string> brokers;  ///< endpoints; none: the one pool of this user's that runs here
  std::string key_file;              ///< of role admin, for endpoints at tcp://
  std::string broker_key;            ///< the public key of brokers that have none behind their endpoint
};

/// Whether it is an endpoint, with or without its broker's key behind it.
Status CheckAdminPlace(std::string_view text);

/// A broker's word, and whose it is.
template <class Row>
struct Of {
  std::string broker;  ///< its endpoint
  Row row;
};

/// What a pool was at one moment.
struct PoolSample {
  std::vector<Of<wire::BrokerRow>> brokers;
  std::vector<Of<wire::WorkerRow>> workers;  ///< one that serves two brokers is there twice
  std::vector<wire::TenantRow> tenants;      ///< by name, summed over brokers
};

class AdminPool {
 public:
  static Result<AdminPool> Open(AdminPlaces places);

  Result<PoolSample> Sample();
  Result<std::vector<Of<wire::WorkerRow>>> Workers();
  Result<std::vector<wire::TenantRow>> Tenants();
  /// Nothing: no broker has heard of it.
  Result<std::optional<wire::TenantRow>> Tenant(const std::string& name);
  /// kDrain or kUndrain to the broker that has the worker.
  Result<wire::WorkerRow> Tell(const Of<wire::WorkerRow>& worker, std::string_view what);

  std::size_t brokers() const { return links_.size(); }

 private:
  std::vector<std::unique_ptr<client::AdminLink>> links_;
};

/// Adds the figures of a tenant that two brokers know; what it may have is the larger of the two.
void Merge(wire::TenantRow& sum, const wire::TenantRow& more);

/// Workers whose id is `prefix` or begins with it. Errors: none, or several workers; names those near.
Result<std::vector<Of<wire::WorkerRow>>> FindWorkers(const std::vector<Of<wire::WorkerRow>>& all,
                                                     const std::string& prefix);

}  // namespace skerry::cli
