// The arrows of DESIGN section 10, as rules over the sources.
//
//   common <- broker, worker, clients; these three never include or link each other
//   V8 only under worker/engine, and not behind the headers that others include
//   ZeroMQ only in the broker's shell, the worker's broker link, the C++ client, and what these three share
//   of it (common/curve) nothing in the cell uses ZeroMQ, logging or threads (it forks, so it must have one
//   thread)
//
// Threads: pure functions. Errors: each violation is one sentence that names the file.
#pragma once

#include <string>
#include <vector>

#include "tests/arrows/source_tree.h"

namespace skerry::arrows {

std::vector<std::string> FindViolations(const SourceTree& tree);

}  // namespace skerry::arrows
