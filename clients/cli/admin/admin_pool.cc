#include "clients/cli/admin/admin_pool.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "clients/cli/admin/terminal_text.h"
#include "clients/cli/pool_folder.h"
#include "common/brokers/broker_keys.h"
#include "common/endpoint.h"

namespace skerry::cli {
namespace {

Result<std::string> TheOnePoolHere() {
  const auto found = RunningPools("admin");
  if (found.size() == 1) return found[0];
  std::string why = found.empty() ? "no pool of this user's runs here" : "several pools run here";
  for (const std::string& endpoint : found) why += (&endpoint == found.data() ? ": " : ", ") + endpoint;
  return Fail(ErrorKind::kInvalid, why + "; name a broker: --admin ENDPOINT, as in its setting `admin`");
}

void Add(wire::NamedCounts& sums, const wire::NamedCounts& more) {
  for (const auto& [name, count] : more.entries) {
    const auto known = std::find_if(sums.entries.begin(), sums.entries.end(),
                                    [&](const auto& entry) { return entry.first == name; });
    if (known == sums.entries.end()) {
      sums.entries.emplace_back(name, count);
    } else {
      known->second += count;
    }
  }
}

}  // namespace

void Merge(wire::TenantRow& sum, const wire::TenantRow& more) {
  sum.named = sum.named || more.named;
  using Field = std::uint64_t wire::TenantRow::*;
  for (const Field allowed :
       {&wire::TenantRow::weight, &wire::TenantRow::max_queued, &wire::TenantRow::max_running,
        &wire::TenantRow::rate, &wire::TenantRow::user_rate, &wire::TenantRow::turn_executions}) {
    sum.*allowed = std::max(sum.*allowed, more.*allowed);
  }
  for (const Field counted :
       {&wire::TenantRow::queued, &wire::TenantRow::running, &wire::TenantRow::accepted, &wire::TenantRow::ok,
        &wire::TenantRow::wall_us, &wire::TenantRow::cpu_us, &wire::TenantRow::in_bytes,
        &wire::TenantRow::out_bytes, &wire::TenantRow::data_bytes}) {
    sum.*counted += more.*counted;
  }
  Add(sum.refused, more.refused);
  Add(sum.errors, more.errors);
  Add(sum.trips, more.trips);
}

Status CheckAdminPlace(std::string_view text) {
  const auto place = ParseBrokerPlace(text);
  if (!place) return Fail(place.error());
  if (place->kind == BrokerPlace::Kind::kFile)
    return Fail(ErrorKind::kInvalid,
                "an admin socket must be ipc://PATH or tcp://HOST:PORT, not a file of such");
  return CheckEndpoint(place->text);
}

Result<AdminPool> AdminPool::Open(AdminPlaces places) {
  if (places.brokers.empty()) {
    auto here = TheOnePoolHere();
    if (!here) return Fail(here.error());
    places.brokers = {*here};
  }
  AdminPool pool;
  std::set<std::string> seen;
  for (const std::string& text : places.brokers) {
    if (auto good = CheckAdminPlace(text); !good) return Fail(good.error());
    const auto place = ParseBrokerPlace(text);
    if (!seen.insert(place->text).second) continue;  // one broker twice would count twice
    auto link =
        client::AdminLink::Open(LinkTo({place->text, place->key}, places.key_file, places.broker_key));
    if (!link) return Fail(link.error());
    pool.links_.push_back(std::move(*link));
  }
  return pool;
}

Result<std::vector<Of<wire::WorkerRow>>> AdminPool::Workers() {
  std::vector<Of<wire::WorkerRow>> all;
  for (const auto& link : links_) {
    auto rows = link->All<wire::WorkerRow>(wire::question::kWorkers);
    if (!rows) return Fail(rows.error());
    for (auto& row : *rows) all.push_back({link->endpoint(), std::move(row)});
  }
  return all;
}

Result<std::vector<wire::TenantRow>> AdminPool::Tenants() {
  std::map<TenantId, wire::TenantRow> by_name;
  for (const auto& link : links_) {
    auto rows = link->All<wire::TenantRow>(wire::question::kTenants);
    if (!rows) return Fail(rows.error());
    for (auto& row : *rows) {
      const auto [at, is_new] = by_name.try_emplace(row.name, row);
      if (!is_new) Merge(at->second, row);
    }
  }
  std::vector<wire::TenantRow> all;
  for (auto& [name, row] : by_name) all.push_back(std::move(row));
  return all;
}

Result<std::optional<wire::TenantRow>> AdminPool::Tenant(const std::string& name) {
  std::optional<wire::TenantRow> sum;
  for (const auto& link : links_) {
    wire::Ask ask;
    ask.what = wire::question::kTenants;
    ask.id = name;
    auto rows = link->Rows<wire::TenantRow>(std::move(ask));
    if (!rows) return Fail(rows.error());
    for (const auto& row : *rows) {
      if (sum) {
        Merge(*sum, row);
      } else {
        sum = row;
      }
    }
  }
  return sum;
}

Result<wire::WorkerRow> AdminPool::Tell(const Of<wire::WorkerRow>& worker, std::string_view what) {
  for (const auto& link : links_) {
    if (link->endpoint() != worker.broker) continue;
    wire::Ask ask;
    ask.what = what;
    ask.id = worker.row.id.str();
    auto rows = link->Rows<wire::WorkerRow>(std::move(ask));
    if (!rows) return Fail(rows.error());
    if (!rows->empty()) return std::move(rows->front());
  }
  return Fail(ErrorKind::kUnavailable, "the broker at " + worker.broker + " said nothing of the worker");
}

Result<PoolSample> AdminPool::Sample() {
  PoolSample sample;
  for (const auto& link : links_) {
    wire::Ask ask;
    ask.what = wire::question::kBroker;
    auto rows = link->Rows<wire::BrokerRow>(std::move(ask));
    if (!rows) return Fail(rows.error());
    for (auto& row : *rows) sample.brokers.push_back({link->endpoint(), std::move(row)});
  }
  auto workers = Workers();
  if (!workers) return Fail(workers.error());
  sample.workers = std::move(*workers);
  auto tenants = Tenants();
  if (!tenants) return Fail(tenants.error());
  sample.tenants = std::move(*tenants);
  return sample;
}

Result<std::vector<Of<wire::WorkerRow>>> FindWorkers(const std::vector<Of<wire::WorkerRow>>& all,
                                                     const std::string& prefix) {
  std::map<std::string, std::vector<Of<wire::WorkerRow>>> by_id;
  for (const auto& worker : all) {
    const std::string& id = worker.row.id.str();
    if (worker.row.state != "cutOff" && id.starts_with(prefix)) by_id[id].push_back(worker);
  }
  if (const auto exact = by_id.find(prefix); exact != by_id.end()) return exact->second;
  if (by_id.size() == 1) return by_id.begin()->second;
  const std::string shown = "'" + TerminalText(prefix) + "'";
  if (by_id.empty()) {
    return Fail(ErrorKind::kInvalid,
                "no worker's id begins with " + shown + "; `skerry workers ls` shows those that there are");
  }
  return Fail(ErrorKind::kInvalid, shown + " is the beginning of " + std::to_string(by_id.size()) +
                                       " workers' ids: write more of it");
}

}  // namespace skerry::cli
