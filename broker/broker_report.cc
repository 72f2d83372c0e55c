#include "broker/broker_report.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "broker/broker_core.h"
#include "common/pool_limits.h"
#include "common/version.h"
#include "common/wire/stats.h"

namespace skerry::broker {
namespace {

// The wire's bound of a reason.
constexpr std::size_t kMaxReason = 1024;

template <class Enum, std::size_t kCount>
void AddCounts(wire::NamedCounts& named, const std::array<std::uint64_t, kCount>& counts) {
  for (std::size_t i = 0; i < kCount; ++i) {
    if (counts[i] > 0) named.entries.emplace_back(NameOf(static_cast<Enum>(i)), counts[i]);
  }
}

std::uint64_t MillisSince(TimePoint then, TimePoint now) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(MillisBetween(then, now), 0));
}

/// On the wire 0 is "no limit".
std::uint64_t Shown(std::uint64_t limit) {
  return limit == UINT64_MAX ? 0 : limit;
}

std::string StateOf(const Worker& worker) {
  switch (worker.state()) {
    case WorkerState::kAway:
      return "away";
    case WorkerState::kDraining:
      return "draining";
    case WorkerState::kServing:
    case WorkerState::kGone:  // this and the next have no record
    case WorkerState::kCutOff:
      break;
  }
  return worker.drained() ? "drained" : "serving";
}

wire::WorkerRow RowOfLiar(const SessionId& id, const std::string& lie) {
  wire::WorkerRow row;
  row.id = id;
  row.state = "cutOff";
  row.reason = PrintableAscii(lie.substr(0, kMaxReason));
  return row;
}

wire::TenantRow RowOfUsage(const TenantUsage& usage) {
  wire::TenantRow row;
  row.accepted = usage.accepted;
  AddCounts<Rejection>(row.refused, usage.refused);
  row.ok = usage.ok;
  AddCounts<Code>(row.errors, usage.errors);
  AddCounts<LimitId>(row.trips, usage.trips);
  row.wall_us = usage.wall_us;
  row.cpu_us = usage.cpu_us;
  row.in_bytes = usage.in_bytes;
  row.out_bytes = usage.out_bytes;
  row.data_bytes = usage.data_bytes;
  return row;
}

}  // namespace

wire::WorkerRow RowOf(const Worker& worker, TimePoint now) {
  wire::WorkerRow row;
  row.id = worker.session;
  row.state = StateOf(worker);
  row.slots = worker.credit().slots;
  row.used = worker.used_slots();
  row.memory_mb = worker.credit().memory_mb;
  row.used_memory_mb = worker.used_memory_mb();
  row.host = worker.host;
  row.pid = worker.pid;
  row.software = worker.build().version;
  row.v8 = worker.build().v8;
  row.sandbox = worker.build().sandbox;
  row.libraries = worker.kind().libraries;
  row.since_ms = MillisSince(worker.since, now);
  row.heard_ms = MillisSince(worker.last_heard, now);
  row.dispatched = worker.given;
  const wire::Stats stats = wire::ToStats(worker.stats());
  row.exits = stats.exits;
  row.cell_restarts = stats.cell_restarts;
  row.reruns = stats.reruns;
  row.lost_events = stats.lost_events;
  row.spares = stats.spares;
  row.cells = stats.cells;
  return row;
}

wire::BrokerRow BrokerReport::Broker(Millis up) const {
  const BrokerGauges gauges = core_.gauges();
  const BrokerCounters& counters = core_.counters();
  wire::BrokerRow row;
  row.software = kSkerrySoftware;
  row.up_ms = static_cast<std::uint64_t>(up.count());
  row.clients = gauges.sessions.sessions;
  row.clients_away = gauges.sessions.away;
  row.queued = gauges.queued;
  row.queued_bytes = gauges.queued_bytes;
  row.parked = gauges.parked;
  row.held_bytes = core_.held_bytes();
  row.workers = gauges.workers.workers;
  row.accepting = gauges.workers.accepting;
  row.slots_used = gauges.workers.slots_used;
  row.slots_free = gauges.workers.slots_free;
  row.memory_promised_mb = gauges.workers.memory_promised_mb;
  row.memory_free_mb = gauges.workers.memory_free_mb;
  row.spares = gauges.workers.spares;
  row.cells = gauges.workers.cells;
  row.submitted = counters.submitted;
  row.accepted = counters.accepted;
  row.dispatched = counters.dispatched;
  row.redispatched = counters.redispatched;
  row.ok = counters.finished_ok;
  AddCounts<Code>(row.errors, counters.finished_error);
  AddCounts<Rejection>(row.refused, counters.rejected);
  AddCounts<LimitId>(row.trips, counters.limit_trips);
  AddCounts<PoolLimit>(row.trips, counters.pool_limit_trips);
  row.workers_cut_off = counters.workers_cut_off;
  row.tenants = ledger_.usage().size();
  return row;
}

ReportPage<wire::WorkerRow> BrokerReport::Workers(const PageRequest& page, TimePoint now) const {
  const SessionId after(page.after);
  const auto connected = workers_.After(after, page.most + 1);
  const auto liars = quarantine_.After(after, page.most + 1, now);
  ReportPage<wire::WorkerRow> found;
  auto worker = connected.begin();
  auto liar = liars.begin();
  while (worker != connected.end() || liar != liars.end()) {
    if (found.rows.size() == page.most) {
      found.next = found.rows.back().id.str();
      break;
    }
    const bool cut_off =
        worker == connected.end() || (liar != liars.end() && liar->first < (*worker)->session);
    if (cut_off) {
      found.rows.push_back(RowOfLiar(liar->first, liar->second));
      ++liar;
      continue;
    }
    // One that was cut off, and is connected again: its time is just over.
    if (liar != liars.end() && liar->first == (*worker)->session) ++liar;
    found.rows.push_back(broker::RowOf(**worker, now));
    ++worker;
  }
  return found;
}

std::optional<wire::WorkerRow> BrokerReport::OneWorker(const SessionId& id, TimePoint now) const {
  if (const Worker* worker = workers_.Find(id)) return broker::RowOf(*worker, now);
  return std::nullopt;
}

bool BrokerReport::IsKnown(const TenantId& tenant) const {
  return ledger_.usage().Find(tenant) != nullptr || ledger_.tenants().IsNamed(tenant);
}

wire::TenantRow BrokerReport::RowOf(const TenantId& tenant) const {
  const TenantUsage* usage = ledger_.usage().Find(tenant);
  wire::TenantRow row = RowOfUsage(usage == nullptr ? TenantUsage() : *usage);
  const TenantPolicy& policy = ledger_.tenants().Of(tenant);
  row.name = tenant;
  row.named = ledger_.tenants().IsNamed(tenant);
  row.weight = policy.share.weight;
  row.queued = ledger_.queue().fair().QueuedOf(tenant);
  row.running = ledger_.queue().fair().RunningOf(tenant);
  row.max_queued = Shown(policy.share.max_queued);
  row.max_running = Shown(policy.share.max_running);
  row.rate = policy.rate.per_second;
  row.user_rate = policy.user_rate.per_second;
  row.turn_executions = policy.turn_executions;
  return row;
}

ReportPage<wire::TenantRow> BrokerReport::Tenants(const PageRequest& page) const {
  const auto heard_of = ledger_.usage().After(page.after, page.most + 1);
  const auto named = ledger_.tenants().After(page.after, page.most + 1);
  std::vector<TenantId> names;
  std::set_union(heard_of.begin(), heard_of.end(), named.begin(), named.end(), std::back_inserter(names));
  const bool others = ledger_.usage().others() != TenantUsage();
  ReportPage<wire::TenantRow> found;
  for (std::size_t i = 0; i < std::min(names.size(), page.most); ++i) found.rows.push_back(RowOf(names[i]));
  if (names.size() > page.most || (names.size() == page.most && others)) {
    found.next = names[page.most - 1].str();
  } else if (others) {
    found.rows.push_back(RowOfUsage(ledger_.usage().others()));
  }
  return found;
}

std::optional<wire::TenantRow> BrokerReport::OneTenant(const TenantId& tenant) const {
  if (!IsKnown(tenant)) return std::nullopt;
  return RowOf(tenant);
}

}  // namespace skerry::broker
