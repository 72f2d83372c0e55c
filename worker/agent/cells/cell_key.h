// What names a derived cell: jobs of one key can start from one evaluated state.
//
// Threads: pure. Errors: none.
#pragma once

#include <string>

#include "worker/agent/jobs/job_plan.h"

namespace skerry::agent {

/// Of the cell that has evaluated these libraries and nothing else.
std::string LibraryKey(const Libraries& libraries);
/// Of the cell that has evaluated its program: tenant, code, mode, libraries, WebAssembly, every limit, and
/// seed and clock where the job fixes them.
std::string ProgramKey(const JobPlan& plan);

}  // namespace skerry::agent
