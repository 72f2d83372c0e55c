// What `skerry top` shows of a pool: lines for a screen of a given size, or one JSON object.
//
//   TopView view(now, before);
//   for (const std::string& line : view.Lines({.columns = 80, .rows = 24})) ...
//
// Rates are the differences of what the brokers have counted between two looks; at the first look, their
// means since the brokers began. A broker that was started anew between two looks counts from zero again; one
// that did not answer the look before counts in no rate of this one. Those that are away are named.
//
// Threads: plain data. Errors: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "clients/cli/admin/pool_sample.h"
#include "clients/cli/admin/text_table.h"

namespace skerry::cli {

struct ScreenSize {
  std::size_t columns = 80;
  std::size_t rows = 24;
};
inline constexpr ScreenSize kAnySize{SIZE_MAX, SIZE_MAX};

/// Counts of all brokers together within some time.
struct PoolRates {
  double seconds = 0;  ///< 0: nothing can be said
  std::uint64_t ok = 0;
  std::uint64_t submitted = 0;
  wire::NamedCounts errors;
  wire::NamedCounts trips;
  double PerSecond(std::uint64_t count) const {
    return seconds > 0 ? static_cast<double>(count) / seconds : 0;
  }
};

class TopView {
 public:
  /// `before`: the look before this one; null at the first.
  TopView(const PoolSample& now, const PoolSample* before);

  /// At most as many as there are rows, none longer than the columns.
  std::vector<std::string> Lines(ScreenSize size) const;
  /// One line.
  std::string Json() const;

  const PoolRates& rates() const { return rates_; }

 private:
  struct TenantRate {
    const wire::TenantRow* row;
    double jobs_per_second;
  };
  std::vector<std::string> Summary() const;
  std::vector<TenantRate> Busiest() const;
  double FinishedPerSecond(const wire::TenantRow& row) const;
  TextTable Tenants(std::size_t most) const;
  TextTable Workers(std::size_t most) const;

  const PoolSample& now_;
  const PoolSample* before_;
  PoolRates rates_;
  bool tenants_compare_ = true;  // the same brokers have counted them
};

}  // namespace skerry::cli
