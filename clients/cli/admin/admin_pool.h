// What the brokers of a pool say to operators, as one: their workers, and their tenants' sums.
//
// A broker that does not answer is named beside what the others say. It goes on being asked.
//
// Threads: one. Errors: where no broker answers: why each does not.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "clients/cli/admin/admin_places.h"
#include "clients/cli/admin/pool_sample.h"
#include "clients/cpp/admin_link.h"
#include "common/result.h"
#include "common/wire/admin.h"

namespace skerry::cli {

class AdminPool {
 public:
  /// Nobody is asked yet.
  static Result<AdminPool> Open(const AdminPlaces& places);

  /// Nobody may answer: then there are no brokers in it.
  PoolSample Sample();
  Result<Heard<std::vector<Of<wire::WorkerRow>>>> Workers();
  Result<Heard<std::vector<wire::TenantRow>>> Tenants();
  /// Nothing: no broker that answers has heard of it.
  Result<Heard<std::optional<wire::TenantRow>>> Tenant(const std::string& name);
  /// kDrain or kUndrain to the broker that has the worker.
  Result<wire::WorkerRow> Tell(const Of<wire::WorkerRow>& worker, std::string_view what);

  /// Those that are asked, whether they answer or not.
  std::size_t brokers() const { return links_.size() + unknown_.size(); }

 private:
  /// Lets each broker be asked; who could not be, and why.
  template <class Ask>
  std::vector<Away> AskEach(Ask ask);
  /// Not where nobody has answered, or a signal came meanwhile.
  Status SomebodyIsHeard(const std::vector<Away>& away) const;
  /// Whether another address of the same name has led to this broker already.
  Result<bool> IsAsked(client::AdminLink& link, std::vector<std::string>& asked) const;

  std::vector<std::unique_ptr<client::AdminLink>> links_;
  std::vector<Away> unknown_;  // names that cannot be resolved
  bool by_names_ = false;      // some address is one of several of a name
};

/// That none of them answers.
Error NobodyAnswers(const std::vector<Away>& away);

/// Adds the figures of a tenant that two brokers know; what it may have is the larger of the two.
void Merge(wire::TenantRow& sum, const wire::TenantRow& more);

}  // namespace skerry::cli
