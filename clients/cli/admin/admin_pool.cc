#include "clients/cli/admin/admin_pool.h"

#include <algorithm>
#include <map>
#include <utility>

#include "clients/cli/interrupt.h"
#include "common/brokers/broker_keys.h"
#include "common/brokers/broker_watch.h"

namespace skerry::cli {
namespace {

// As long as a broker has to answer.
constexpr Millis kToResolve{5'000};

using TenantSums = std::map<TenantId, wire::TenantRow>;

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

wire::Ask About(std::string_view what, std::string id = {}) {
  wire::Ask ask;
  ask.what = what;
  ask.id = std::move(id);
  return ask;
}

void AddTo(TenantSums& sums, const std::vector<wire::TenantRow>& rows) {
  for (const auto& row : rows) {
    const auto [at, is_new] = sums.try_emplace(row.name, row);
    if (!is_new) Merge(at->second, row);
  }
}

std::vector<wire::TenantRow> RowsOf(TenantSums sums) {
  std::vector<wire::TenantRow> rows;
  for (auto& [name, row] : sums) rows.push_back(std::move(row));
  return rows;
}

template <class Row>
void AddTo(std::vector<Of<Row>>& all, const std::string& broker, std::vector<Row> rows) {
  for (Row& row : rows) all.push_back({broker, std::move(row)});
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

Error NobodyAnswers(const std::vector<Away>& away) {
  Error all;
  for (const Away& broker : away) {
    all.message += (all.message.empty() ? "" : "; and ") + broker.why.message;
    all.kind = broker.why.kind;
  }
  return all;
}

Result<AdminPool> AdminPool::Open(const AdminPlaces& places) {
  auto addresses = AddressesOf(places.brokers, RealLookups(kToResolve).resolve);
  if (!addresses) return Fail(addresses.error());
  AdminPool pool;
  for (const BrokerAddress& address : addresses->known) {
    auto link = client::AdminLink::Open(LinkTo(address, places.key_file, places.broker_key));
    if (!link) return Fail(link.error());
    pool.links_.push_back(std::move(*link));
  }
  pool.unknown_ = std::move(addresses->unknown);
  pool.by_names_ = addresses->lead == AdminAddresses::Lead::kMaybeToOne;
  return pool;
}

Result<bool> AdminPool::IsAsked(client::AdminLink& link, std::vector<std::string>& asked) const {
  if (!by_names_) return false;
  const auto rows = link.Rows<wire::BrokerRow>(About(wire::question::kBroker));
  if (!rows) return Fail(rows.error());
  if (rows->empty() || rows->front().instance.empty()) return false;  // one that is too old to say
  if (std::find(asked.begin(), asked.end(), rows->front().instance) != asked.end()) return true;
  asked.push_back(rows->front().instance);
  return false;
}

template <class Ask>
std::vector<Away> AdminPool::AskEach(Ask ask) {
  std::vector<Away> away = unknown_;
  std::vector<std::string> asked;
  for (const auto& link : links_) {
    const auto is_asked = IsAsked(*link, asked);
    if (is_asked && *is_asked) continue;
    const Status answered = is_asked ? ask(*link) : Status(Fail(is_asked.error()));
    if (!answered) away.push_back({link->endpoint(), answered.error()});
    if (Interrupts() > 0) break;
  }
  return away;
}

Status AdminPool::SomebodyIsHeard(const std::vector<Away>& away) const {
  if (Interrupts() > 0) return Fail(ErrorKind::kUnavailable, "interrupted");
  if (away.size() == brokers()) return Fail(NobodyAnswers(away));
  return {};
}

Result<Heard<std::vector<Of<wire::WorkerRow>>>> AdminPool::Workers() {
  Heard<std::vector<Of<wire::WorkerRow>>> all;
  all.away = AskEach([&](client::AdminLink& link) -> Status {
    auto rows = link.All<wire::WorkerRow>(wire::question::kWorkers);
    if (!rows) return Fail(rows.error());
    AddTo(all.said, link.endpoint(), std::move(*rows));
    return {};
  });
  if (auto heard = SomebodyIsHeard(all.away); !heard) return Fail(heard.error());
  return all;
}

Result<Heard<std::vector<wire::TenantRow>>> AdminPool::Tenants() {
  TenantSums sums;
  auto away = AskEach([&](client::AdminLink& link) -> Status {
    const auto rows = link.All<wire::TenantRow>(wire::question::kTenants);
    if (!rows) return Fail(rows.error());
    AddTo(sums, *rows);
    return {};
  });
  if (auto heard = SomebodyIsHeard(away); !heard) return Fail(heard.error());
  return Heard<std::vector<wire::TenantRow>>{RowsOf(std::move(sums)), std::move(away)};
}

Result<Heard<std::optional<wire::TenantRow>>> AdminPool::Tenant(const std::string& name) {
  TenantSums sums;
  Heard<std::optional<wire::TenantRow>> one;
  one.away = AskEach([&](client::AdminLink& link) -> Status {
    const auto rows = link.Rows<wire::TenantRow>(About(wire::question::kTenants, name));
    if (!rows) return Fail(rows.error());
    AddTo(sums, *rows);
    return {};
  });
  if (auto heard = SomebodyIsHeard(one.away); !heard) return Fail(heard.error());
  if (!sums.empty()) one.said = std::move(sums.begin()->second);
  return one;
}

Result<wire::WorkerRow> AdminPool::Tell(const Of<wire::WorkerRow>& worker, std::string_view what) {
  for (const auto& link : links_) {
    if (link->endpoint() != worker.broker) continue;
    auto rows = link->Rows<wire::WorkerRow>(About(what, worker.row.id.str()));
    if (!rows) return Fail(rows.error());
    if (!rows->empty()) return std::move(rows->front());
  }
  return Fail(ErrorKind::kUnavailable, "the broker at " + worker.broker + " said nothing of the worker");
}

PoolSample AdminPool::Sample() {
  PoolSample sample;
  TenantSums sums;
  sample.away = AskEach([&](client::AdminLink& link) -> Status {
    auto broker = link.Rows<wire::BrokerRow>(About(wire::question::kBroker));
    if (!broker) return Fail(broker.error());
    auto workers = link.All<wire::WorkerRow>(wire::question::kWorkers);
    if (!workers) return Fail(workers.error());
    const auto tenants = link.All<wire::TenantRow>(wire::question::kTenants);
    if (!tenants) return Fail(tenants.error());
    AddTo(sample.brokers, link.endpoint(), std::move(*broker));
    AddTo(sample.workers, link.endpoint(), std::move(*workers));
    AddTo(sums, *tenants);
    return {};
  });
  sample.tenants = RowsOf(std::move(sums));
  return sample;
}

}  // namespace skerry::cli
