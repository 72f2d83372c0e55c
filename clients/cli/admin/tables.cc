#include "clients/cli/admin/tables.h"

#include <map>
#include <set>

#include "clients/cli/admin/figures.h"
#include "clients/cli/admin/worker_name.h"
#include "clients/cli/tally.h"

namespace skerry::cli {
namespace {

// Kinds of refusals or errors in one cell.
constexpr std::size_t kKindsShown = 3;

std::string Joined(const std::vector<std::string>& texts) {
  std::string joined;
  for (const std::string& text : texts) joined += (joined.empty() ? "" : " ") + text;
  return joined.empty() ? "-" : joined;
}

std::string OrDash(const std::string& text) {
  return text.empty() ? "-" : text;
}

}  // namespace

std::string ShownId(const SessionId& worker) {
  const std::string& id = worker.str();
  const std::size_t own = id.find('/');
  return id.substr(0, (own == std::string::npos ? 0 : own + 1) + kShownIdChars);
}

std::vector<std::string> ShownIds(const std::vector<Of<wire::WorkerRow>>& workers) {
  std::map<std::string, std::set<std::string>> so_called;
  for (const auto& [broker, row] : workers) so_called[ShownId(row.id)].insert(WorkerOf(row.id));
  std::vector<std::string> ids;
  for (const auto& [broker, row] : workers) {
    std::string id = ShownId(row.id);
    ids.push_back(so_called[id].size() > 1 ? row.id.str() : std::move(id));
  }
  return ids;
}

std::string ShownName(const wire::TenantRow& tenant) {
  return tenant.name.empty() ? "(others)" : tenant.name.str();
}

TextTable WorkersTable(const std::vector<Of<wire::WorkerRow>>& workers, std::size_t brokers) {
  std::vector<Column> columns = {{.title = "WORKER", .longest = kMaxIdBytes},
                                 {"STATE"},
                                 {"IN USE", Align::kRight},
                                 {"MEMORY", Align::kRight},
                                 {"JOBS", Align::kRight},
                                 {"CRASHES", Align::kRight},
                                 {"RESTARTS", Align::kRight},
                                 {"SINCE", Align::kRight},
                                 {"HOST"},
                                 {"PID", Align::kRight},
                                 {"VERSION"},
                                 {"LIBRARIES"}};
  if (brokers > 1) columns.push_back({"BROKER"});
  TextTable table(std::move(columns));
  const auto ids = ShownIds(workers);
  for (std::size_t i = 0; i < workers.size(); ++i) {
    const auto& [broker, row] = workers[i];
    const bool gone = row.state == "cutOff";
    table.Add({ids[i], row.state, gone ? "-" : std::to_string(row.used) + "/" + std::to_string(row.slots),
               gone ? "-" : std::to_string(row.used_memory_mb) + "/" + std::to_string(row.memory_mb) + " MiB",
               Grouped(row.dispatched), Grouped(CrashesOf(row)), Grouped(SumOf(row.cell_restarts)),
               gone ? "-" : AgeText(row.since_ms), gone ? row.reason : OrDash(row.host),
               row.pid == 0 ? "-" : std::to_string(row.pid), OrDash(row.software), Joined(row.libraries),
               broker});
  }
  return table;
}

TextTable TenantsTable(const std::vector<wire::TenantRow>& tenants) {
  TextTable table({{"TENANT"},
                   {"WEIGHT", Align::kRight},
                   {"QUEUED", Align::kRight},
                   {"MAX", Align::kRight},
                   {"RUNNING", Align::kRight},
                   {"MAX", Align::kRight},
                   {"RATE", Align::kRight},
                   {"USER RATE", Align::kRight},
                   {"TURN", Align::kRight},
                   {"REFUSED", Align::kRight},
                   {"BECAUSE"}});
  for (const auto& row : tenants) {
    table.Add({ShownName(row), LimitText(row.weight), Grouped(row.queued), LimitText(row.max_queued),
               Grouped(row.running), LimitText(row.max_running), LimitText(row.rate),
               LimitText(row.user_rate), LimitText(row.turn_executions), Grouped(SumOf(row.refused)),
               CountsText(row.refused, kKindsShown)});
  }
  return table;
}

TextTable UsageTable(const std::vector<wire::TenantRow>& tenants) {
  TextTable table({{"TENANT"},
                   {"JOBS", Align::kRight},
                   {"OK", Align::kRight},
                   {"FAILED", Align::kRight},
                   {"BY CODE"},
                   {"CPU", Align::kRight},
                   {"RUN TIME", Align::kRight},
                   {"IN", Align::kRight},
                   {"OUT", Align::kRight},
                   {"DATA", Align::kRight},
                   {"REFUSED", Align::kRight}});
  for (const auto& row : tenants) {
    table.Add({ShownName(row), Grouped(row.accepted), Grouped(row.ok), Grouped(SumOf(row.errors)),
               CountsText(row.errors, kKindsShown), SecondsText(row.cpu_us), SecondsText(row.wall_us),
               BytesText(row.in_bytes), BytesText(row.out_bytes), BytesText(row.data_bytes),
               Grouped(SumOf(row.refused))});
  }
  return table;
}

}  // namespace skerry::cli
