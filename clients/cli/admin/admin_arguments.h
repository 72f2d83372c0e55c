// What the operators' commands have in common on the command line: which brokers, table or JSON, and how they
// complain.
//
// Threads: the main thread. Ownership: refers to the command's application.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "clients/cli/admin/admin_pool.h"
#include "clients/cli/admin/row_json.h"
#include "clients/cli/admin/screen.h"
#include "clients/cli/connection.h"
#include "clients/cli/exit_codes.h"
#include "common/config/command_line.h"
#include "common/config/settings.h"

namespace skerry::cli {

inline constexpr const char* kAdminHelp =
    "Without --admin it asks the pool that `skerry up` runs here. Variable SKERRY_CLIENT_ADMIN, or admin in "
    "[client] of skerry.toml.\nOf several brokers those that answer are shown, and the others named: on "
    "stderr, "
    "with --json as {\"broker\":...,\"away\":...}.\nA name stands for each of its addresses.\n"
    "Exit status: 0, 2 usage or no such worker or tenant, 69 no broker answers, 74 output failed, 130 "
    "interrupted.";

class AdminArguments {
 public:
  explicit AdminArguments(CLI::App& app);

  /// The brokers, once the application has parsed; else the exit status, told.
  std::optional<int> Open(std::optional<AdminPool>& pool);
  bool json() const { return json_; }
  /// Names brokers that said nothing: in lines of JSON behind the rows, else on stderr.
  void Name(const std::vector<Away>& away, std::vector<std::string>& lines) const;

 private:
  ConnectOptions options_;
  config::Settings settings_{"client"};
  config::CommandLine line_;
  bool json_ = false;
};

int ComplainOf(const Error& error);

/// A line of JSON for each row.
template <class Row>
std::vector<std::string> JsonLines(const std::vector<Row>& rows) {
  std::vector<std::string> lines;
  for (const Row& row : rows) AppendJson(lines.emplace_back(), row);
  return lines;
}

inline int Printed(const std::vector<std::string>& lines) {
  return PrintLines(lines) ? kExitOk : kExitCannotWrite;
}

}  // namespace skerry::cli
