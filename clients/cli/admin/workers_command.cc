// `skerry workers ls` and `skerry workers drain`.
#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "clients/cli/admin/admin_arguments.h"
#include "clients/cli/admin/drain_progress.h"
#include "clients/cli/admin/tables.h"
#include "clients/cli/admin/terminal_text.h"
#include "clients/cli/admin/worker_name.h"
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
    "has nothing left. Jobs that no other\nworker can run wait. A worker of several brokers is one worker, "
    "whichever of its ids is named: each of them is told.\nWhere one that may have it does not answer, the "
    "others "
    "are told all the same, and the exit status is 69.\n";

constexpr Millis kLookEvery{250};

using Rows = std::vector<Of<wire::WorkerRow>>;

std::string Told(const Of<wire::WorkerRow>& of, const std::string& name, std::size_t brokers) {
  const wire::WorkerRow& row = of.row;
  const std::string where = row.host.empty()
                                ? std::string()
                                : " on " + row.host + (row.pid > 0 ? ", pid " + std::to_string(row.pid) : "");
  return TerminalText("worker " + name + where + " is " + row.state +
                      (brokers > 1 ? " at " + of.broker : "") + ", runs " + std::to_string(row.used) +
                      (row.used == 1 ? " job" : " jobs"));
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
    auto lines = arguments_.json() ? JsonLines(workers->said)
                                   : WorkersTable(workers->said, pool->brokers()).Lines(TextTable::kAnyWidth);
    arguments_.Name(workers->away, lines);
    return Printed(lines);
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
    auto workers = pool->Workers();
    if (!workers) return ComplainOf(workers.error());
    untold_ = workers->away;
    if (const auto exit = Choose(workers->said)) return *exit;
    Rows told = TellAll(*pool);
    if (wait_) {
      DrainProgress progress(std::move(told));
      if (const auto exit = WaitFor(*pool, progress)) return *exit;
      told = progress.rows();
    }
    auto lines = arguments_.json() ? JsonLines(told) : Lines(told, pool->brokers());
    arguments_.Name(untold_, lines);
    const int printed = Printed(lines);
    return printed != kExitOk || untold_.empty() ? printed : ExitCodeOf(untold_.front().why);
  }

 private:
  /// All of them are found before any is told.
  std::optional<int> Choose(const Rows& all) {
    for (const auto& row : all) {
      if (all_ && row.row.state != "cutOff") chosen_.push_back(row);
    }
    for (const std::string& prefix : prefixes_) {
      const auto found = FindWorker(all, prefix);
      if (!found) return ComplainOfNone(found.error());
      for (const auto& row : *found) {
        const bool is_chosen = std::any_of(chosen_.begin(), chosen_.end(), [&](const auto& chosen) {
          return chosen.broker == row.broker && chosen.row.id == row.row.id;
        });
        if (!is_chosen) chosen_.push_back(row);
      }
    }
    return std::nullopt;
  }
  /// A broker that does not answer may have it.
  int ComplainOfNone(Error error) const {
    std::vector<std::string> lines;
    arguments_.Name(untold_, lines);
    if (!PrintLines(lines)) return kExitCannotWrite;
    if (untold_.empty()) error.kind = ErrorKind::kInvalid;
    return ComplainOf(error);
  }
  Rows TellAll(AdminPool& pool) {
    Rows told;
    for (const auto& worker : chosen_) {
      auto row = pool.Tell(worker, undo_ ? wire::question::kUndrain : wire::question::kDrain);
      if (row) {
        told.push_back({worker.broker, std::move(*row)});
      } else {
        AddUntold({worker.broker, row.error()});
      }
    }
    return told;
  }
  std::optional<int> WaitFor(AdminPool& pool, DrainProgress& progress) {
    for (;;) {
      const auto workers = pool.Workers();
      if (!workers) return ComplainOf(workers.error());
      progress.Look(*workers);
      if (progress.over()) break;
      if (InterruptedWithin(kLookEvery)) return kExitInterrupted;
    }
    for (Away& broker : progress.lost()) AddUntold(std::move(broker));
    return std::nullopt;
  }
  void AddUntold(Away broker) {
    const bool is_known = std::any_of(untold_.begin(), untold_.end(),
                                      [&](const Away& known) { return known.broker == broker.broker; });
    if (!is_known) untold_.push_back(std::move(broker));
  }
  std::vector<std::string> Lines(const Rows& told, std::size_t brokers) const {
    std::vector<std::string> lines;
    const auto names = ShownIds(told);
    for (std::size_t i = 0; i < told.size(); ++i) lines.push_back(Told(told[i], names[i], brokers));
    if (chosen_.empty() && untold_.empty()) lines.emplace_back("no worker is connected");
    return lines;
  }

  AdminArguments arguments_;
  std::vector<std::string> prefixes_;
  bool all_ = false;
  bool wait_ = false;
  bool undo_ = false;
  Rows chosen_;
  std::vector<Away> untold_;  // brokers that may have some of them, but hold no drain of them
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
