// skerry: the command line. Each command describes itself in a file of its own (commands.h).
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "clients/cli/commands.h"
#include "common/config/command_line.h"
#include "common/descriptors.h"

namespace skerry::cli {
namespace {

constexpr const char* kExamples =
    "  skerry run jobs.jsonl -o results.jsonl            a private broker and worker, just for this run\n"
    "  skerry run jobs.jsonl -o results.jsonl --resume   go on where the last run stopped\n"
    "  skerry exec tool.js --input '{\"x\":1}'           one program\n"
    "  skerry up                                         a broker and a worker, until Ctrl-C\n"
    "  skerry doctor                                     what this machine lacks, and what to do\n"
    "  skerry keygen --role client --tenant acme         a key for a broker at tcp://\n"
    "  skerry top                                        what a pool does, each second\n"
    "  skerry workers drain worker-3f9a --wait           a worker finishes what it runs, and gets no more\n";

/// CLI11 would only say that a command is required.
std::optional<int> RefuseUnknownCommand(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || *argv[1] == '-' || *argv[1] == '\0') return std::nullopt;
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands(nullptr)) names.push_back(command->get_name());
  const std::string word = argv[1];
  if (std::find(names.begin(), names.end(), word) != names.end()) return std::nullopt;
  std::string listed = names.front();
  for (std::size_t i = 1; i < names.size(); ++i) {
    listed += (i + 1 == names.size() ? " and " : ", ") + names[i];
  }
  return config::Complain("skerry", "no command '" + config::Shown(word) + "'" +
                                        config::DidYouMean(word, names) + "; there are " + listed +
                                        "; `skerry --help` says more");
}

int Main(int argc, char** argv) {
  CLI::App app("", "skerry");
  config::SetHelp(app,
                  {kExamples, std::string("Runs untrusted JavaScript in bulk. `skerry COMMAND --help` says "
                                          "more.\n") +
                                  kExitStatusHelp});
  app.require_subcommand(1);
  app.set_version_flag("--version", SKERRY_VERSION);
  std::vector<std::unique_ptr<Command>> commands;
  for (const auto make :
       {&MakeRun, &MakeExec, &MakeUp, &MakeDoctor, &MakeKeygen, &MakeWorkers, &MakeTenants, &MakeTop})
    commands.push_back(make(app));
  if (const auto status = RefuseUnknownCommand(app, argc, argv)) return *status;
  if (const auto status = config::ParseArguments(app, argc, argv)) return *status;
  for (const auto& command : commands) {
    if (command->chosen()) return command->Run();
  }
  return config::kExitUsage;
}

}  // namespace
}  // namespace skerry::cli

int main(int argc, char** argv) {
  skerry::FillStandardDescriptors();
  return skerry::cli::Main(argc, argv);
}
