// The sources as text: what the arrow rules read, and what a test can make up.
//
// Threads: plain data. Errors: an include that names no file of the tree belongs to a library and is kept as
// written.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace skerry::arrows {

/// Path from the repository's root ("common/limits.h") to content: *.h, *.cc and CMakeLists.txt.
using SourceTree = std::map<std::string, std::string>;

SourceTree LoadTree(const std::filesystem::path& root);

/// What stands between the quotes or brackets of a file's #include lines.
std::vector<std::string> IncludesOf(const std::string& text);

/// Every include that is reached from `files`, theirs and their headers', with the file that has it:
/// include -> includer.
std::map<std::string, std::string> ReachedIncludes(const SourceTree& tree,
                                                   const std::vector<std::string>& files);

}  // namespace skerry::arrows
