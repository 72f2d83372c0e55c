// `skerry exec FILE.js`: one program; console and status on stderr as they come, the value as JSON on stdout.
//
// Threads: the main thread. Errors: as exit codes: 0 ok, 1 the program failed, the rest as `skerry run`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "clients/cli/connection.h"
#include "common/job.h"

namespace skerry::cli {

struct ExecOptions {
  ConnectOptions connect;
  std::string file;   ///< "-": stdin
  std::string input;  ///< JSON text; empty: undefined
  std::string cases;  ///< file of inputs, one a line; empty: `input` is the only one
  StopOn stop_on = StopOn::kNever;
  std::string mode;  ///< empty: module for .mjs, else function
  RequestedLimits limits;
  std::vector<std::string> libraries;  ///< that the program may `require`
  std::optional<std::uint64_t> seed;
  std::string clock;  ///< real, frozen, or ms since the epoch; empty: real
  bool receipt = false;
  bool quiet = false;
};

int ExecCommand(const ExecOptions& options);

}  // namespace skerry::cli
