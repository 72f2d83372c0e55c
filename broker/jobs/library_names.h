// Names of libraries that jobs ask for and workers have: who has which.
//
// A job's names keep its order, since it is the order of evaluation; a worker's are sorted.
//
// Threads: pure functions. Errors: what is wrong with names, for whoever sent them.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace skerry::broker {

using LibraryNames = std::vector<std::string>;

/// Of at most `most` names: the first that is none, or that comes twice.
std::optional<std::string> FaultInLibraries(std::span<const std::string> names, std::size_t most);

/// Whether `sorted` has all of `wanted`.
bool HasAll(const LibraryNames& sorted, std::span<const std::string> wanted);

/// For a message: "'a', 'b' and 3 more", cut to what a person reads.
std::string Listed(const std::set<std::string>& names);

}  // namespace skerry::broker
