#include "clients/cli/admin/drain_progress.h"

#include <algorithm>
#include <utility>

namespace skerry::cli {
namespace {

bool Has(const std::vector<Away>& brokers, const std::string& broker) {
  return std::any_of(brokers.begin(), brokers.end(),
                     [&](const Away& listed) { return listed.broker == broker; });
}

Away Anew(const std::string& broker) {
  return {broker,
          {ErrorKind::kUnavailable, "the broker at " + broker +
                                        " gives a worker jobs again: it was started anew, or somebody has "
                                        "undone the drain; drain again"}};
}

}  // namespace

DrainProgress::DrainProgress(Rows told) : rows_(std::move(told)) {}

void DrainProgress::Look(const Heard<Rows>& now) {
  away_.clear();
  for (auto& told : rows_) {
    const auto away = std::find_if(now.away.begin(), now.away.end(),
                                   [&](const Away& broker) { return broker.broker == told.broker; });
    if (away != now.away.end()) {
      if (!Has(away_, told.broker)) away_.push_back(*away);
      continue;
    }
    const auto row = std::find_if(now.said.begin(), now.said.end(), [&](const auto& said) {
      return said.broker == told.broker && said.row.id == told.row.id;
    });
    if (row != now.said.end()) {
      told.row = row->row;
    } else {
      told.row.state = "gone";
      told.row.used = 0;
    }
    if (told.row.state == "serving" && !Has(anew_, told.broker)) anew_.push_back(Anew(told.broker));
  }
}

bool DrainProgress::IsLost(const std::string& broker) const {
  return Has(away_, broker) || Has(anew_, broker);
}

bool DrainProgress::over() const {
  return std::none_of(rows_.begin(), rows_.end(),
                      [&](const auto& row) { return row.row.used > 0 && !IsLost(row.broker); });
}

std::vector<Away> DrainProgress::lost() const {
  std::vector<Away> all = away_;
  for (const Away& broker : anew_) {
    if (!Has(all, broker.broker)) all.push_back(broker);
  }
  return all;
}

}  // namespace skerry::cli
