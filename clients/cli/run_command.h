// `skerry run`: a file of jobs in, a file of results out.
//
// Threads: the main thread. Errors: as exit codes, with one line on stderr that says what to do.
#pragma once

#include <string>

#include "clients/cli/connection.h"

namespace skerry::cli {

struct RunOptions {
  ConnectOptions connect;
  std::string jobs;          ///< "-": stdin
  std::string output = "-";  ///< "-": stdout
  bool resume = false;
  bool quiet = false;
};

int RunCommand(const RunOptions& options);

}  // namespace skerry::cli
