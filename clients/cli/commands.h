// The commands of `skerry`. Each describes itself to CLI11 in its own file and runs when it was chosen.
//
// Threads: the main thread. Ownership: a command outlives the parsing and its run; CLI11 writes into it.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>

namespace skerry::cli {

class Command {
 public:
  explicit Command(CLI::App* app) : app_(app) {}
  virtual ~Command() = default;
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  bool chosen() const { return app_->parsed(); }
  /// The exit status.
  virtual int Run() = 0;

 protected:
  CLI::App& app() { return *app_; }

 private:
  CLI::App* app_;
};

std::unique_ptr<Command> MakeRun(CLI::App& parent);
std::unique_ptr<Command> MakeExec(CLI::App& parent);
std::unique_ptr<Command> MakeUp(CLI::App& parent);
std::unique_ptr<Command> MakeDoctor(CLI::App& parent);
std::unique_ptr<Command> MakeKeygen(CLI::App& parent);
std::unique_ptr<Command> MakeWorkers(CLI::App& parent);
std::unique_ptr<Command> MakeTenants(CLI::App& parent);
std::unique_ptr<Command> MakeTop(CLI::App& parent);

inline constexpr const char* kExitStatusHelp =
    "Exit status: 0 all ok, 1 some jobs failed, 2 usage, 69 broker unreachable, 74 output failed, 130 "
    "interrupted.";
inline constexpr const char* kSettingsHelp =
    "Each setting is also a variable (--log-level: SKERRY_CLIENT_LOG_LEVEL) and a key of skerry.toml "
    "(log_level "
    "in [client]);\na flag wins over a variable, a variable over the file. See docs/configuration.md.";

}  // namespace skerry::cli
