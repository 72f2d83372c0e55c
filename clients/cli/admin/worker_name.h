// What operators call a worker. A worker process has a session with each of its brokers, and an id for each:
// its own, a '-' and 16 random hex digits, then "-2" and up from the second on; before that the name that
// its key has at that broker, and '/'.
//
//   rack-2/rack-2-1d38c50aba7e4251      at one broker
//   rack-2/rack-2-1d38c50aba7e4251-2    the same process at another
//
// The digits are drawn once a process: what they end is the process's name, and nobody else's. An id without
// them is a name by itself.
//
// Threads: pure functions. Errors: kUnavailable where there is no such worker, kInvalid where there are
// several, with what to write instead.
#pragma once

#include <string>
#include <vector>

#include "clients/cli/admin/pool_sample.h"
#include "common/ids.h"
#include "common/result.h"

namespace skerry::cli {

/// The same for all sessions of a worker's process, and for those of no other.
std::string WorkerOf(const SessionId& session);

/// The rows, at all brokers, of the one worker of which an id is `prefix` or begins with it; those that were
/// cut off left out.
Result<std::vector<Of<wire::WorkerRow>>> FindWorker(const std::vector<Of<wire::WorkerRow>>& all,
                                                    const std::string& prefix);

/// Processes among these rows that `counts` holds for at one broker at least.
std::size_t CountWorkers(const std::vector<Of<wire::WorkerRow>>& rows,
                         bool (*counts)(const wire::WorkerRow&));

}  // namespace skerry::cli
