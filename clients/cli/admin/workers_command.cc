// `skerry workers ls` and `skerry workers drain`.
#include <algorithm>
#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "clients/cli/admin/admin_arguments.h"
#include "clients/cli/admin/tables.h"
#include "clients/cli/commands.h"
#include "clients/cli/interrupt.h"

namespace skerry::cli {
namespace {

constexpr const char* kExamples =
    "  skerry workers ls                       the workers of the pool that `skerry up` runs here\n"
    "  skerry workers ls --admin ipc:///run/skerry/admin --json\n"
    "  skerry workers drain worker-3f9a        the one whose id begins so gets no more jobs\n"
    "  skerry workers drain --all --wait       ... and says when the last job has ended\n"
    "  skerry workers drain --undo worker-3f9a it gets jobs again\n";

constexpr const char* kLsExamples =
    "  skerry workers ls\n"
    "  skerry workers ls --admin ipc:///run/skerry/admin --json\n";

constexpr const char* kDrainExamples =
    "  skerry workers drain worker-3f9a worker-77b  those whose ids begin so get no more jobs\n"
    "  skerry workers drain --all --wait       ... all of them, and wait until their last jobs have ended\n"
    "  skerry workers drain --undo --all       they get jobs again\n";

constexpr const char* kDrainAbout =
    "A drained worker finishes what it runs, and gets nothing more. It stays connected and drained, whatever "
    "its link does,\nuntil --undo, or until it or its broker is started anew: stop it with SIGTERM when it "
    "has nothing left. Jobs that no other\nworker can run wait.\n";

constexpr Millis kLookEvery{250};

std::string Told(const wire::WorkerRow& row) {
  const std::string where = row.host.empty()
                                ? std::string()
                                : " on " + row.host + (row.pid > 0 ? ", pid " + std::to_string(row.pid) : "");
  return "worker " + ShownId(row.id) + where + " is " + row.state + ", runs " + std::to_string(row.used) +
         (row.used == 1 ? " job" : " jobs");
}

/// Left of those, by id, over all brokers.
std::uint64_t JobsOf(const std::vector<Of<wire::WorkerRow>>& workers, const std::set<std::string>& ids) {
  std::uint64_t jobs = 0;
  for (const auto& [broker, row] : workers) jobs += ids.contains(row.id.str()) ? row.used : 0;
  return jobs;
}

class WorkersLs : public Command {
 public:
  explicit WorkersLs(CLI::App* app) : Command(app), arguments_(*app) {
    config::SetHelp(*app, {kLsExamples, kAdminHelp});
  }
  int Run() override {
    std::optional<AdminPool> pool;
    if (const auto exit = arguments_.Open(pool)) return *exit;
    const auto workers = pool->Workers();
    if (!workers) return ComplainOf(workers.error());
    if (!arguments_.json())
      return Printed(WorkersTable(*workers, pool->brokers()).Lines(TextTable::kAnyWidth));
    std::vector<wire::WorkerRow> rows;
    for (const auto& [broker, row] : *workers) rows.push_back(row);
    return Printed(JsonLines(rows));
  }

 private:
  AdminArguments arguments_;
};

class WorkersDrain : public Command {
 public:
  explicit WorkersDrain(CLI::App* app) : Command(app), arguments_(*app) {
    config::SetHelp(*app, {kDrainExamples, std::string(kDrainAbout) + kAdminHelp});
    app->add_option("ids", prefixes_, "workers' ids, or how they begin")->type_name("ID");
    app->add_flag("--all", all_, "every worker");
    app->add_flag("--wait", wait_, "until none of them runs a job");
    app->add_flag("--undo", undo_, "they get jobs again");
  }
  int Run() override {
    if (prefixes_.empty() != all_)
      return config::Complain(
          "skerry", all_ ? "drain takes IDs or --all, not both" : "drain needs the IDs of workers, or --all");
    if (wait_ && undo_) return config::Complain("skerry", "--wait has nothing to wait for with --undo");
    std::optional<AdminPool> pool;
    if (const auto exit = arguments_.Open(pool)) return *exit;
    const auto chosen = Chosen(*pool);
    if (!chosen) return ComplainOf(chosen.error());
    std::set<std::string> ids;
    std::vector<wire::WorkerRow> told;
    for (const auto& worker : *chosen) {
      auto row = pool->Tell(worker, undo_ ? wire::question::kUndrain : wire::question::kDrain);
      if (!row) return ComplainOf(row.error());
      ids.insert(row->id.str());
      told.push_back(std::move(*row));
    }
    if (wait_) {
      if (const auto exit = WaitFor(*pool, ids, told)) return *exit;
    }
    if (arguments_.json()) return Printed(JsonLines(told));
    std::vector<std::string> lines;
    for (const auto& row : told) lines.push_back(Told(row));
    if (told.empty()) lines.emplace_back("no worker is connected");
    return Printed(lines);
  }

 private:
  /// All of them are found before any is told.
  Result<std::vector<Of<wire::WorkerRow>>> Chosen(AdminPool& pool) const {
    auto workers = pool.Workers();
    if (!workers) return workers;
    std::vector<Of<wire::WorkerRow>> chosen;
    if (all_) {
      std::erase_if(*workers, [](const auto& worker) { return worker.row.state == "cutOff"; });
      return workers;
    }
    for (const std::string& prefix : prefixes_) {
      auto found = FindWorkers(*workers, prefix);
      if (!found) return found;
      chosen.insert(chosen.end(), found->begin(), found->end());
    }
    return chosen;
  }
  /// The rows as they are at the end; those of workers that have gone as they were.
  static std::optional<int> WaitFor(AdminPool& pool, const std::set<std::string>& ids,
                                    std::vector<wire::WorkerRow>& told) {
    for (;;) {
      const auto workers = pool.Workers();
      if (!workers) return ComplainOf(workers.error());
      for (wire::WorkerRow& row : told) {
        const auto now = std::find_if(workers->begin(), workers->end(),
                                      [&](const auto& worker) { return worker.row.id == row.id; });
        if (now == workers->end()) {
          row.state = "gone";
          row.used = 0;
        } else {
          row = now->row;
        }
      }
      if (JobsOf(*workers, ids) == 0) return std::nullopt;
      if (InterruptedWithin(kLookEvery)) return kExitInterrupted;
    }
  }

  AdminArguments arguments_;
  std::vector<std::string> prefixes_;
  bool all_ = false;
  bool wait_ = false;
  bool undo_ = false;
};

class WorkersCommand : public Command {
 public:
  explicit WorkersCommand(CLI::App* app)
      : Command(app),
        ls_(app->add_subcommand("ls", "list workers")),
        drain_(app->add_subcommand("drain", "give workers no more jobs")) {
    config::SetHelp(*app, {kExamples, kAdminHelp});
  }
  int Run() override {
    if (drain_.chosen()) return drain_.Run();
    if (ls_.chosen()) return ls_.Run();
    return config::Complain("skerry", "workers needs ls or drain; `skerry workers --help` says more");
  }

 private:
  WorkersLs ls_;
  WorkersDrain drain_;
};

}  // namespace

std::unique_ptr<Command> MakeWorkers(CLI::App& parent) {
  return std::make_unique<WorkersCommand>(
      parent.add_subcommand("workers", "list and drain a pool's workers"));
}

}  // namespace skerry::cli
