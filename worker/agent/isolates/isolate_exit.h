// How an isolate's process ended, for the worker's counts.
//
// Threads: pure. Errors: none.
#pragma once

#include <optional>

#include "common/worker_stats.h"
#include "worker/agent/jobs/verdict.h"

namespace skerry::agent {

/// Of an isolate that was given a job: what the worker killed it for, if it did; else whether it had sent its
/// final; else what the kernel says.
IsolateExit ExitOf(const Verdict& verdict, const ExitStatus& status);

}  // namespace skerry::agent
