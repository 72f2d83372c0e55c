// The broker as operators see it: one row for itself, a row for each worker and each tenant, in pages.
//
//   const auto page = core.Report().Workers({.after = "w-1", .most = 256}, now);
//   for (const wire::WorkerRow& row : page.rows) ...
//   page.next      // where the next page begins; empty: that was all
//
// A page costs its rows and the logarithm of how many there are: no question walks over all of them.
//
// Threads: the core's. Ownership: a view, valid until the core's next event. Errors: none.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "broker/jobs/job_ledger.h"
#include "broker/workers/quarantine.h"
#include "broker/workers/worker_registry.h"
#include "common/units.h"
#include "common/wire/admin.h"

namespace skerry::broker {

class BrokerCore;

struct PageRequest {
  std::string after;
  std::size_t most = 1;  ///< 1 and up
};

template <class Row>
struct ReportPage {
  std::vector<Row> rows;
  std::string next;
};

class BrokerReport {
 public:
  BrokerReport(const BrokerCore& core, const WorkerRegistry& workers, const JobLedger& ledger,
               const Quarantine& quarantine)
      : core_(core), workers_(workers), ledger_(ledger), quarantine_(quarantine) {}

  wire::BrokerRow Broker(Millis up) const;
  /// By id: those that are connected, and those that were cut off and are refused still.
  ReportPage<wire::WorkerRow> Workers(const PageRequest& page, TimePoint now) const;
  std::optional<wire::WorkerRow> OneWorker(const SessionId& id, TimePoint now) const;
  /// By name: those of tenants.toml and those that were heard of; what is left of others last, under no name.
  ReportPage<wire::TenantRow> Tenants(const PageRequest& page) const;
  std::optional<wire::TenantRow> OneTenant(const TenantId& tenant) const;

 private:
  wire::TenantRow RowOf(const TenantId& tenant) const;
  bool IsKnown(const TenantId& tenant) const;

  const BrokerCore& core_;
  const WorkerRegistry& workers_;
  const JobLedger& ledger_;
  const Quarantine& quarantine_;
};

wire::WorkerRow RowOf(const Worker& worker, TimePoint now);

}  // namespace skerry::broker
