// `skerry exec FILE.js --cases INPUTS.jsonl`: the program once per input; on stdout a result line per case as
// it ends, then the summary, as `skerry run` writes them.
//
// Threads: the main thread. Errors: as exit codes of `skerry run`; a line that is not JSON is a usage fault,
// before anything runs.
#pragma once

#include <string>
#include <vector>

#include "clients/cli/connection.h"

namespace skerry::cli {

/// Each line of the file, which must be JSON; blank lines are none.
Result<std::vector<std::string>> ReadInputs(const std::string& path);

int ExecCases(Connection& connection, CasesRequest request);

}  // namespace skerry::cli
