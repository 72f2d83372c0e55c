// A dispatched job, checked and ready to be handed to an isolate, as often as it takes.
//
// Threads: plain data, immutable once made. Errors: a refusal is the job's VALIDATION, not an Error of ours.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "common/limits.h"
#include "common/outcome.h"
#include "common/wire/messages.h"
#include "worker/agent/cells/library_shelf.h"

namespace skerry::agent {

struct JobPlan {
  wire::Dispatch dispatch;  ///< job.limits names every limit that is set
  Limits limits;
  std::string code;
  std::string input;
  Libraries libraries;  ///< those the job names, each once
};

/// Resolves the limits against the hard maxima (the broker has applied the operator's ceilings) and against
/// the largest memoryMb that this worker's cells can give; checks the code's size before anything else looks
/// at it. Libraries are those of `shelf`.
std::variant<JobPlan, JobError> PlanJob(wire::Dispatch dispatch, std::vector<std::string> payloads,
                                        std::uint64_t max_memory_mb, const LibraryShelf& shelf = {});

}  // namespace skerry::agent
