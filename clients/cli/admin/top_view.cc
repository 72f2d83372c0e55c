#include "clients/cli/admin/top_view.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

#include "clients/cli/admin/figures.h"
#include "clients/cli/admin/row_json.h"
#include "clients/cli/admin/tables.h"
#include "clients/cli/admin/terminal_text.h"
#include "clients/cli/admin/worker_name.h"
#include "clients/cli/json_text.h"
#include "clients/cli/tally.h"

namespace skerry::cli {
namespace {

// Each with why; they must leave room for those that are not.
constexpr std::size_t kAwayShown = 3;
// A terminal of fewer rows has none for empty lines.
constexpr std::size_t kRowsForSpace = 16;

std::string More(std::size_t count) {
  return "… " + Grouped(count) + " more";
}

/// Of `rows`, in so many lines: the last says how many are left out, unless it is the only one.
std::size_t ShownIn(std::size_t lines, std::size_t rows) {
  return rows <= lines || lines < 2 ? std::min(rows, lines) : lines - 1;
}

void Add(wire::NamedCounts& sums, std::string_view name, std::uint64_t count) {
  if (count == 0) return;
  for (auto& [known, sum] : sums.entries) {
    if (known == name) {
      sum += count;
      return;
    }
  }
  sums.entries.emplace_back(name, count);
}

std::uint64_t Since(std::uint64_t now, std::uint64_t before) {
  return now > before ? now - before : 0;
}

void AddSince(wire::NamedCounts& sums, const wire::NamedCounts& now, const wire::NamedCounts* before) {
  for (const auto& [name, count] : now.entries)
    Add(sums, name, Since(count, before == nullptr ? 0 : CountOf(*before, name)));
}

bool IsIn(const PoolSample& sample, const std::string& broker) {
  return std::any_of(sample.brokers.begin(), sample.brokers.end(),
                     [&](const auto& row) { return row.broker == broker; });
}

/// That broker at the look before; null where it was not there, or has been started anew.
const wire::BrokerRow* Before(const PoolSample* sample, const Of<wire::BrokerRow>& broker) {
  if (sample == nullptr) return nullptr;
  for (const auto& [endpoint, row] : sample->brokers) {
    if (endpoint == broker.broker && row.up_ms <= broker.row.up_ms) return &row;
  }
  return nullptr;
}

const wire::TenantRow* Before(const PoolSample* sample, const TenantId& name) {
  if (sample == nullptr) return nullptr;
  const auto& rows = sample->tenants;  // by name
  const auto at =
      std::lower_bound(rows.begin(), rows.end(), name,
                       [](const wire::TenantRow& row, const TenantId& id) { return row.name < id; });
  return at == rows.end() || at->name != name ? nullptr : &*at;
}

std::string PerSecondText(const wire::NamedCounts& counts, const PoolRates& rates) {
  std::string text;
  for (const auto& [name, count] : counts.entries)
    text += "  " + name + " " + RateText(rates.PerSecond(count));
  return text;
}

void AppendRates(std::string& json, const char* name, const wire::NamedCounts& counts,
                 const PoolRates& rates) {
  json += ",\"" + std::string(name) + "\":{";
  for (const auto& [key, count] : counts.entries) {
    if (json.back() != '{') json += ',';
    AppendJsonString(json, key);
    json += ':';
    AppendMillis(json, rates.PerSecond(count));
  }
  json += '}';
}

template <class Row>
void AppendRows(std::string& json, const char* name, const std::vector<Row>& rows) {
  json += ",\"" + std::string(name) + "\":[";
  for (const Row& row : rows) {
    if (json.back() != '[') json += ',';
    AppendJson(json, row);
  }
  json += ']';
}

}  // namespace

TopView::TopView(const PoolSample& now, const PoolSample* before) : now_(now), before_(before) {
  std::uint64_t longest_ms = 0;
  for (const auto& broker : now.brokers) {
    if (before != nullptr && !IsIn(*before, broker.broker)) {
      tenants_compare_ = false;
      continue;
    }
    const wire::BrokerRow* earlier = Before(before, broker);
    const wire::BrokerRow& row = broker.row;
    longest_ms = std::max(longest_ms, row.up_ms - (earlier == nullptr ? 0 : earlier->up_ms));
    rates_.ok += Since(row.ok, earlier == nullptr ? 0 : earlier->ok);
    rates_.submitted += Since(row.submitted, earlier == nullptr ? 0 : earlier->submitted);
    AddSince(rates_.errors, row.errors, earlier == nullptr ? nullptr : &earlier->errors);
    AddSince(rates_.trips, row.trips, earlier == nullptr ? nullptr : &earlier->trips);
  }
  rates_.seconds = static_cast<double>(longest_ms) / 1'000;
  if (before != nullptr && before->brokers.size() != now.brokers.size()) tenants_compare_ = false;
}

std::vector<std::string> TopView::Summary() const {
  wire::BrokerRow sum;
  for (const auto& [endpoint, row] : now_.brokers) {
    sum.up_ms = std::max(sum.up_ms, row.up_ms);
    sum.queued += row.queued;
    sum.queued_bytes += row.queued_bytes;
    sum.parked += row.parked;
    sum.held_bytes += row.held_bytes;
    sum.clients += row.clients;
    sum.slots_used += row.slots_used;
    sum.slots_free += row.slots_free;
    sum.spares += row.spares;
    sum.cells += row.cells;
  }
  // Each process once, however many brokers it serves.
  sum.workers = CountWorkers(now_.workers, [](const auto& row) { return row.state != "cutOff"; });
  sum.accepting =
      CountWorkers(now_.workers, [](const auto& row) { return row.state == "serving" && row.slots > 0; });
  std::vector<std::string> lines;
  lines.push_back(std::to_string(now_.brokers.size()) + (now_.brokers.size() == 1 ? " broker" : " brokers") +
                  ", up " + AgeText(sum.up_ms) + "   clients " + Grouped(sum.clients) + "   workers " +
                  Grouped(sum.workers) + " (" + Grouped(sum.accepting) + " take jobs)   cells " +
                  Grouped(sum.cells) + ", spares " + Grouped(sum.spares));
  lines.push_back("queued " + Grouped(sum.queued) + " (" + BytesText(sum.queued_bytes) + ")" +
                  (sum.parked > 0 ? ", " + Grouped(sum.parked) + " wait for libraries" : "") + "   running " +
                  Grouped(sum.slots_used) + "   slots free " + Grouped(sum.slots_free) +
                  "   kept for clients " + BytesText(sum.held_bytes));
  for (std::size_t i = 0; i < std::min(now_.away.size(), kAwayShown); ++i)
    lines.push_back("away: " + TerminalText(now_.away[i].why.message));
  if (now_.away.size() > kAwayShown) lines.push_back("away: " + More(now_.away.size() - kAwayShown));
  const std::string when = before_ == nullptr ? " (mean since the brokers began)" : "";
  lines.push_back("outcomes/s" + when + ":  ok " + RateText(rates_.PerSecond(rates_.ok)) +
                  PerSecondText(rates_.errors, rates_));
  lines.push_back("limit trips/s:" +
                  (rates_.trips.entries.empty() ? "  none" : PerSecondText(rates_.trips, rates_)));
  return lines;
}

double TopView::FinishedPerSecond(const wire::TenantRow& row) const {
  if (!tenants_compare_) return 0;
  const wire::TenantRow* before = Before(before_, row.name);
  const auto finished = [](const wire::TenantRow& of) { return of.ok + SumOf(of.errors); };
  return rates_.PerSecond(Since(finished(row), before == nullptr ? 0 : finished(*before)));
}

std::vector<TopView::TenantRate> TopView::Busiest() const {
  std::vector<TenantRate> tenants;
  for (const auto& row : now_.tenants) tenants.push_back({&row, FinishedPerSecond(row)});
  std::stable_sort(tenants.begin(), tenants.end(), [](const TenantRate& a, const TenantRate& b) {
    return std::tuple(a.jobs_per_second, a.row->running, a.row->queued) >
           std::tuple(b.jobs_per_second, b.row->running, b.row->queued);
  });
  return tenants;
}

TextTable TopView::Tenants(std::size_t most) const {
  TextTable table({{"TENANT"},
                   {"JOBS/S", Align::kRight},
                   {"QUEUED", Align::kRight},
                   {"RUNNING", Align::kRight},
                   {"OK", Align::kRight},
                   {"FAILED", Align::kRight},
                   {"REFUSED", Align::kRight},
                   {"CPU", Align::kRight},
                   {"BY CODE"}});
  for (const auto& [row, rate] : Busiest()) {
    if (table.rows() == most) break;
    table.Add({ShownName(*row), RateText(rate), Grouped(row->queued), Grouped(row->running), Grouped(row->ok),
               Grouped(SumOf(row->errors)), Grouped(SumOf(row->refused)), SecondsText(row->cpu_us),
               CountsText(row->errors, 3)});
  }
  return table;
}

/// Those that an operator may have to do something about come first.
TextTable TopView::Workers(std::size_t most) const {
  auto workers = now_.workers;
  std::stable_sort(workers.begin(), workers.end(), [](const auto& a, const auto& b) {
    return (a.row.state != "serving") > (b.row.state != "serving");
  });
  workers.resize(most);
  return WorkersTable(workers, now_.brokers.size() + now_.away.size());
}

std::vector<std::string> TopView::Lines(ScreenSize size) const {
  std::vector<std::string> lines;
  for (const std::string& line : Summary()) lines.push_back(CutTo(line, size.columns));
  const std::size_t space = size.rows < kRowsForSpace ? 0 : 1;
  const std::size_t fixed = lines.size() + 2 * space + 2;  // and two lines of titles
  const std::size_t left = size.rows > fixed ? size.rows - fixed : 0;
  // A third of what is left is the workers', one line at least, and what tenants leave.
  const std::size_t for_workers = std::min(
      now_.workers.size(),
      std::max({std::min<std::size_t>(left, 1), left / 3, left - std::min(left, now_.tenants.size())}));
  const auto add = [&](const TextTable& table, std::size_t most, std::size_t rows) {
    lines.resize(lines.size() + space);
    for (std::string& line : table.Lines(size.columns)) lines.push_back(std::move(line));
    if (most > 1 && table.rows() < rows) lines.push_back(CutTo(More(rows - table.rows()), size.columns));
  };
  const std::size_t for_tenants = left - for_workers;
  add(Tenants(ShownIn(for_tenants, now_.tenants.size())), for_tenants, now_.tenants.size());
  add(Workers(ShownIn(for_workers, now_.workers.size())), for_workers, now_.workers.size());
  lines.resize(std::min(lines.size(), size.rows));
  return lines;
}

std::string TopView::Json() const {
  std::string json = "{\"seconds\":";
  AppendMillis(json, rates_.seconds);
  json += ",\"okPerSecond\":";
  AppendMillis(json, rates_.PerSecond(rates_.ok));
  json += ",\"submittedPerSecond\":";
  AppendMillis(json, rates_.PerSecond(rates_.submitted));
  AppendRates(json, "errorsPerSecond", rates_.errors, rates_);
  AppendRates(json, "tripsPerSecond", rates_.trips, rates_);
  AppendRows(json, "brokers", now_.brokers);
  AppendRows(json, "workers", now_.workers);
  AppendRows(json, "tenants", now_.tenants);
  AppendRows(json, "away", now_.away);
  return json + "}";
}

}  // namespace skerry::cli
