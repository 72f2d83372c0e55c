// What the brokers of a pool have said, each row with whose it is, and which of them said nothing.
//
// Threads: plain data.
#pragma once

#include <string>
#include <vector>

#include "common/result.h"
#include "common/wire/admin.h"

namespace skerry::cli {

/// A broker's word, and whose it is.
template <class Row>
struct Of {
  std::string broker;  ///< its endpoint
  Row row;
};

/// A broker that does not answer.
struct Away {
  std::string broker;  ///< its endpoint
  Error why;
};

/// What those that answer say. Somebody does: that none does is an error.
template <class Said>
struct Heard {
  Said said;
  std::vector<Away> away;
};

/// What a pool was at one moment.
struct PoolSample {
  std::vector<Of<wire::BrokerRow>> brokers;
  std::vector<Of<wire::WorkerRow>> workers;  ///< one that serves two brokers is there twice
  std::vector<wire::TenantRow> tenants;      ///< by name, summed over brokers
  std::vector<Away> away;
};

}  // namespace skerry::cli
