#include "clients/cli/admin/worker_name.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "clients/cli/admin/terminal_text.h"

namespace skerry::cli {
namespace {

constexpr std::size_t kRandomDigits = 16;
// Of names that a complaint lists.
constexpr std::size_t kNamesShown = 8;

bool AreHex(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool EndsInRandom(std::string_view own) {
  return own.size() > kRandomDigits && own[own.size() - kRandomDigits - 1] == '-' &&
         AreHex(own.substr(own.size() - kRandomDigits));
}

/// Without the number of the broker.
std::string_view WithoutNumber(std::string_view own) {
  const std::size_t digits = own.find_last_not_of("0123456789") + 1;
  if (digits == own.size() || digits < 2 || own[digits - 1] != '-' || own[digits] == '0') return own;
  return own.substr(0, digits - 1);
}

Error Several(const std::string& shown, const std::set<std::string>& ids, std::size_t workers) {
  std::string message = shown + " is the beginning of " + std::to_string(workers) +
                        " workers' ids: write more of it, or all of one:";
  std::size_t listed = 0;
  for (const std::string& id : ids) {
    if (listed++ == kNamesShown) break;
    message += (listed == 1 ? " " : ", ") + TerminalText(id);
  }
  if (ids.size() > kNamesShown) message += ", … " + std::to_string(ids.size() - kNamesShown) + " more";
  return {ErrorKind::kInvalid, message};
}

}  // namespace

std::string WorkerOf(const SessionId& session) {
  const std::string_view id = session.str();
  const std::size_t slash = id.find('/');
  const std::string_view own = slash == std::string_view::npos ? id : id.substr(slash + 1);
  if (EndsInRandom(own)) return std::string(own);
  const std::string_view cut = WithoutNumber(own);
  // By whatever name each broker knows the key: the digits are the process's alone.
  return std::string(EndsInRandom(cut) ? cut : id);
}

Result<std::vector<Of<wire::WorkerRow>>> FindWorker(const std::vector<Of<wire::WorkerRow>>& all,
                                                    const std::string& prefix) {
  std::map<std::string, std::vector<Of<wire::WorkerRow>>> workers;
  std::map<std::string, std::string> begin_so;  // workers, and the first of their ids that does
  std::string exact;
  for (const auto& row : all) {
    if (row.row.state == "cutOff") continue;
    const std::string worker = WorkerOf(row.row.id);
    workers[worker].push_back(row);
    if (row.row.id.str().starts_with(prefix)) begin_so.emplace(worker, row.row.id.str());
    if (row.row.id.str() == prefix) exact = worker;
  }
  if (!exact.empty()) return workers.at(exact);
  if (begin_so.size() == 1) return workers.at(begin_so.begin()->first);
  const std::string shown = "'" + TerminalText(prefix) + "'";
  if (begin_so.empty()) {
    return Fail(ErrorKind::kUnavailable,
                "no worker's id begins with " + shown + "; `skerry workers ls` shows those that there are");
  }
  std::set<std::string> ids;
  for (const auto& [worker, id] : begin_so) ids.insert(id);
  return Fail(Several(shown, ids, begin_so.size()));
}

std::size_t CountWorkers(const std::vector<Of<wire::WorkerRow>>& rows,
                         bool (*counts)(const wire::WorkerRow&)) {
  std::set<std::string> workers;
  for (const auto& [broker, row] : rows) {
    if (counts(row)) workers.insert(WorkerOf(row.id));
  }
  return workers.size();
}

}  // namespace skerry::cli
