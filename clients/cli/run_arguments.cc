// `skerry run` on the command line.
#include "clients/cli/commands.h"
#include "clients/cli/run_command.h"
#include "clients/cli/settings.h"
#include "common/config/command_line.h"

namespace skerry::cli {
namespace {

constexpr const char* kExamples =
    "  skerry run jobs.jsonl -o results.jsonl            a private broker and worker, just for this run\n"
    "  skerry run jobs.jsonl -o results.jsonl --resume   go on where the last run stopped\n"
    "  generate | skerry run - --quiet > results.jsonl   jobs from a pipe\n"
    "  skerry run jobs.jsonl --broker ipc:///run/skerry/clients\n"
    "  skerry run jobs.jsonl --isolates 8 --data fixtures.json\n\n"
    "Each line of JOBS.jsonl is one job; `code` is all it needs:\n"
    "  {\"id\":\"add\",\"code\":\"return input.a + "
    "input.b\",\"input\":{\"a\":19,\"b\":23},\"limits\":{\"timeoutMs\":1000}}\n"
    "FIXTURES.json answers host calls by method; \"*\" answers any other:\n"
    "  "
    "{\"getUser\":{\"$value\":{\"id\":1},\"$delayMs\":20},\"flaky\":{\"$error\":\"no\"},\"slow\":{\"$never\":"
    "true},\"*\":null}\n";

class RunArguments : public Command {
 public:
  explicit RunArguments(CLI::App* app) : Command(app), line_(*app, "skerry") {
    config::SetHelp(*app,
                    {kExamples, std::string("RESULTS.jsonl is replaced unless --resume is given; results "
                                            "come in the order in which jobs end.\n") +
                                    kSettingsHelp + "\n" + kExitStatusHelp});
    jobs_ = app->add_option("jobs", options_.jobs, "JOBS.jsonl, or - for stdin");
    app->add_option("-o,--output", options_.output, "RESULTS.jsonl, or - for stdout (-)");
    app->add_flag(
        "--resume", options_.resume,
        "keep the output's results, run only what has none or failed on our side; find what a killed run "
        "left with --broker");
    app->add_flag("--quiet", options_.quiet, "no progress bar, no summary");
    Describe(settings_, options_.connect);
    for (const config::Setting& setting : settings_.all()) {
      if (!setting.key().starts_with("admin")) line_.AddFlag(setting);  // operators' commands have those
    }
    line_.AddPrint();
  }

  int Run() override {
    const auto start =
        line_.Configure(settings_, [this] { return FinishConnection(settings_, options_.connect); });
    if (start.exit) return *start.exit;
    if (jobs_->count() == 0) return config::Complain("skerry", "run needs JOBS.jsonl, or - for stdin");
    return RunCommand(options_);
  }

 private:
  RunOptions options_;
  config::Settings settings_{"client"};
  config::CommandLine line_;
  CLI::Option* jobs_ = nullptr;
};

}  // namespace

std::unique_ptr<Command> MakeRun(CLI::App& parent) {
  return std::make_unique<RunArguments>(parent.add_subcommand("run", "run a file of jobs (JSON Lines)"));
}

}  // namespace skerry::cli
