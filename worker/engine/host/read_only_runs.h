// Makes one mapping of read-only pages that lie side by side with gaps between them. V8 maps each page of its
// read-only heap by itself, twice as large as it needs and half of it closed: 26 mappings, each of which
// every fork copies and every exit takes down.
//
// The gaps become readable and read as zeros, which takes no memory.
//
// Threads: one; nothing else may read the pages meanwhile. Ownership: for the process's life. Errors: none;
// what the kernel refuses stays as it was.
#pragma once

#include <cstddef>
#include <vector>

#include "worker/engine/host/memory_map.h"

namespace skerry::engine {

/// Runs that are worth it: anonymous, of at least three mappings that nobody can write or execute, some of
/// them closed, the first and the last readable.
std::vector<PageRange> FindReadOnlyRuns(const std::vector<Mapping>& mappings);

/// Returns the number of mappings that are gone.
std::size_t MergeReadOnlyRuns();

}  // namespace skerry::engine
