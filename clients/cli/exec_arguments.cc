// `skerry exec` on the command line.
#include <optional>
#include <vector>

#include "clients/cli/commands.h"
#include "clients/cli/exec_command.h"
#include "clients/cli/settings.h"
#include "common/config/command_line.h"

namespace skerry::cli {
namespace {

constexpr const char* kExamples =
    "  skerry exec tool.js --input '{\"x\":1}'\n"
    "  skerry exec tool.js --cases inputs.jsonl --stop-on-failure\n"
    "  skerry exec scorer.js --library lodash=node_modules/lodash/lodash.js\n"
    "  skerry exec tool.mjs --data fixtures.json --timeout-ms 500\n"
    "  echo 'return 6 * 7' | skerry exec -\n"
    "  skerry exec tool.js --broker ipc:///run/skerry/clients\n";

/// The limits that one-off programs are given on the command line.
struct ExecLimit {
  const char* option;
  LimitId id;
  std::optional<std::uint64_t> value;
};

class ExecArguments : public Command {
 public:
  explicit ExecArguments(CLI::App* app) : Command(app), line_(*app, "skerry") {
    config::SetHelp(*app, {kExamples, std::string("Console and status go to stderr, the value as JSON to "
                                                  "stdout.\n") +
                                          kSettingsHelp + "\n" + kExitStatusHelp});
    file_ = app->add_option("file", options_.file, "FILE.js, or - for stdin");
    app->add_option("--input", options_.input, "JSON for the program's `input`");
    cases_ =
        app->add_option("--cases", options_.cases,
                        "INPUTS.jsonl: run it once per line, and print a result line for each and a summary");
    app->add_flag("--stop-on-failure", stop_on_failure_, "the first case that fails cancels the rest");
    app->add_option("--mode", options_.mode, "function, script or module (module for .mjs, else function)");
    app->add_option("--seed", options_.seed, "of Math.random, 0 to 2^53-1 (drawn anew unless given)");
    app->add_option("--clock", options_.clock,
                    "real, frozen (2025-01-01), or the ms since the epoch at which time "
                    "stands still");
    libraries_ = app->add_option("--libraries", options_.libraries,
                                 "names of libraries for the program's require, as A,B or repeated (those of "
                                 "--library)")
                     ->delimiter(',')
                     ->allow_extra_args(false)
                     ->type_name("NAMES");
    app->add_flag("--receipt", options_.receipt, "say on stderr what was run, so that it can be run again");
    for (ExecLimit& limit : limits_) {
      app->add_option(limit.option, limit.value, "the job's limit " + std::string(NameOf(limit.id)));
    }
    Describe(settings_, options_.connect);
    for (const char* key : {"broker", "key", "broker_key", "data", "tenant", "user", "jit", "sandbox",
                            "libraries", "log_level", "worker_program"}) {
      line_.AddFlag(settings_.At(key));
    }
    line_.AddPrint();
  }

  int Run() override {
    const auto start =
        line_.Configure(settings_, [this] { return FinishConnection(settings_, options_.connect); });
    if (start.exit) return *start.exit;
    if (file_->count() == 0) return config::Complain("skerry", "exec needs FILE.js, or - for stdin");
    if (stop_on_failure_ && cases_->count() == 0)
      return config::Complain("skerry", "--stop-on-failure needs --cases");
    if (cases_->count() > 0 && !options_.input.empty())
      return config::Complain("skerry", "--cases stands in place of --input");
    if (stop_on_failure_) options_.stop_on = StopOn::kFirstFailure;
    if (cases_->count() == 0) UseOneSlot();
    if (libraries_->count() == 0) UseGivenLibraries();
    for (const ExecLimit& limit : limits_) {
      if (limit.value) options_.limits.emplace_back(std::string(NameOf(limit.id)), *limit.value);
    }
    return ExecCommand(options_);
  }

 private:
  /// One job needs one slot; its isolate is forked while the client still connects.
  void UseOneSlot() {
    PoolOptions& pool = options_.connect.pool;
    pool.workers = 1;
    pool.isolates = 1;
    pool.spares = 1;
    pool.memory_mb.reset();
  }

  /// Who names a library for this one program wants to have it there.
  void UseGivenLibraries() {
    if (settings_.At("libraries").source().from != config::Source::From::kFlag) return;
    for (const std::string& library : options_.connect.pool.libraries)
      options_.libraries.push_back(library.substr(0, library.find('=')));
  }

  ExecOptions options_;
  std::vector<ExecLimit> limits_ = {{"--timeout-ms", LimitId::kTimeoutMs, {}},
                                    {"--cpu-ms", LimitId::kCpuMs, {}},
                                    {"--memory-mb", LimitId::kMemoryMb, {}},
                                    {"--max-result-bytes", LimitId::kMaxResultBytes, {}}};
  config::Settings settings_{"client"};
  config::CommandLine line_;
  CLI::Option* file_ = nullptr;
  CLI::Option* cases_ = nullptr;
  CLI::Option* libraries_ = nullptr;
  bool stop_on_failure_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeExec(CLI::App& parent) {
  return std::make_unique<ExecArguments>(parent.add_subcommand("exec", "run one program"));
}

}  // namespace skerry::cli
