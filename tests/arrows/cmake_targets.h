// The targets that the CMakeLists.txt files define: their folder, their sources, what they link.
//
// It reads the few commands this repository uses (add_library, add_executable, target_link_libraries,
// target_sources, skerry_add_test, skerry_add_v8_executable) and no CMake beyond them: conditions are taken
// as true.
//
// Threads: plain data.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/arrows/source_tree.h"

namespace skerry::arrows {

struct Target {
  std::string folder;                ///< of its CMakeLists.txt, from the root
  std::vector<std::string> sources;  ///< from the root
  std::set<std::string> links;       ///< as written, aliases resolved
};

/// By name. An alias is not a target of its own.
std::map<std::string, Target> ReadTargets(const SourceTree& tree);

/// `root` and every target of the repository that it links, directly or not.
std::set<std::string> LinkClosure(const std::map<std::string, Target>& targets, const std::string& root);

}  // namespace skerry::arrows
