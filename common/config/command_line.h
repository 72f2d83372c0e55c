// Settings as flags of a CLI11 application, and the start of a process from them.
//
//   CLI::App app("", "skerry-broker");
//   SetHelp(app, {.examples = "  skerry-broker --clients …\n", .about = "Queues …"});
//   CommandLine line(app, "skerry-broker");
//   line.Add(settings);
//   line.AddPrint();
//   app.parse(argc, argv);
//   auto start = line.Configure(settings, [&] { return config.Validate(); });
//   if (start.exit) return *start.exit;        // faults were told (2), or --print-config was answered (0)
//
// Threads: the main thread. Ownership: refers to the application and to the settings.
// Errors: on stderr, one line each with the program's name before it.
#pragma once

#include <CLI/CLI.hpp>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/config/load.h"

namespace skerry::config {

/// Help as people read it: examples first, then what the program does, then its options.
struct HelpText {
  std::string examples;  ///< lines, indented by two
  std::string about;     ///< may be empty
};
void SetHelp(CLI::App& app, HelpText text);

struct Start {
  std::optional<int> exit;  ///< the process ends with this
  std::string file;         ///< the configuration that was read; empty: none
};

class CommandLine {
 public:
  /// Adds --config.
  CommandLine(CLI::App& app, std::string program);
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  /// Every setting becomes a flag.
  void Add(Settings& settings);
  CLI::Option* AddFlag(const Setting& setting);
  /// Adds --print-config, which Configure answers; with needed settings missing, too, and the faults.
  void AddPrint();

  /// What the flags said, once the application has parsed.
  Inputs Collected() const;
  /// Loads `settings`; `finish` then fills computed defaults in and checks the struct. Its faults are one a
  /// line, each beginning with a key or a flag.
  Start Configure(Settings& settings, const std::function<Status()>& finish) const;
  /// The same without --print-config, for parts of several tables.
  Start ConfigureParts(const std::vector<Settings*>& tables) const;
  /// And without a word, for a command whose children look at the whole of them and tell most faults.
  Loaded LoadParts(const std::vector<Settings*>& tables) const;

 private:
  Start Tell(const Loaded& loaded) const;
  static std::size_t AddSpanning(const Settings& settings, const std::function<Status()>& finish,
                                 Loaded& loaded);

  CLI::App& app_;
  std::string program_;
  // Flags and what they were given; never moved, since CLI11 writes into them.
  std::deque<std::pair<std::string, std::vector<std::string>>> given_;
  std::deque<std::pair<std::string, std::string>> switches_;
  std::string config_;
  CLI::Option* config_option_;
  bool print_ = false;
};

/// Runs `app.parse`; the exit status where the process is to end: 0 after --help, else 2.
std::optional<int> ParseArguments(CLI::App& app, int argc, char** argv);

inline constexpr int kExitUsage = 2;

/// One line on stderr with the program's name before it; returns kExitUsage.
int Complain(const std::string& program, const std::string& fault);

}  // namespace skerry::config
