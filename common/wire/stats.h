// A worker's figures as a STATS header, and back.
//
// Threads: pure. Errors: none. Names that this build does not know are left out: a newer worker's figures of
// things that did not exist yet.
#pragma once

#include "common/wire/messages.h"
#include "common/worker_stats.h"

namespace skerry::wire {

/// Zero counts are left out.
Stats ToStats(const WorkerStats& figures);
WorkerStats FromStats(const Stats& stats);

}  // namespace skerry::wire
