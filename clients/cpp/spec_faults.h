// What a client refuses before anything is sent: specs that the wire cannot carry, or that no broker takes.
//
// Threads: pure functions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/job.h"

namespace skerry::client {

/// What is wrong with the names of libraries, if anything; which of them a pool has is its broker's to say.
std::optional<std::string> FaultInLibraries(const std::vector<std::string>& libraries);
/// What is wrong with a job's spec, if anything.
std::optional<std::string> FaultInSpec(const JobSpec& spec);

}  // namespace skerry::client
