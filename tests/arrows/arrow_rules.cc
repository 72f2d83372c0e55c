#include "tests/arrows/arrow_rules.h"

#include <algorithm>
#include <regex>

#include "tests/arrows/cmake_targets.h"

namespace skerry::arrows {
namespace {

using Violations = std::vector<std::string>;

// Who may use whom; a folder may always use itself. Tests and benchmarks may use everything.
const std::map<std::string, std::set<std::string>> kMayUse = {
    {"common", {}},
    {"broker", {"common"}},
    {"worker", {"common"}},
    {"clients", {"common"}},
};

std::string TopFolder(const std::string& path) {
  return path.substr(0, path.find('/'));
}

bool MayUse(const std::string& user, const std::string& used) {
  if (user == used || !kMayUse.contains(user)) return true;
  return kMayUse.at(user).contains(used);
}

bool IsOfOurs(const std::string& folder) {
  return kMayUse.contains(folder) || folder == "bench" || folder == "tests";
}

bool IsV8Header(const std::string& include) {
  static const std::regex kV8(R"re((v8[-a-z0-9]*\.h|libplatform/.*|cppgc/.*|.*/v8[-a-z0-9]*\.h))re");
  return std::regex_match(include, kV8) && !include.starts_with("worker/engine/");
}

bool IsZmqHeader(const std::string& include) {
  return include.starts_with("zmq");
}

// The broker's shell is what owns its sockets: the server, the router it moves frames through, and its door.
bool MayUseZmq(const std::string& file) {
  static const std::regex kShells(
      R"re(common/curve/.*|broker/(admin/admin_socket|broker_server|door/connection_watch|door/gatekeeper|router)[_a-z]*\.(h|cc)|worker/agent/link/broker_link[_a-z]*\.(h|cc)|clients/cpp/.*)re");
  return std::regex_match(file, kShells) || TopFolder(file) == "tests" || TopFolder(file) == "bench";
}

bool MayUseHiredis(const std::string& file) {
  return file.starts_with("broker/redis/");
}

void CheckIncludes(const SourceTree& tree, Violations& violations) {
  for (const auto& [file, text] : tree) {
    if (file.ends_with("CMakeLists.txt")) continue;
    for (const auto& include : IncludesOf(text)) {
      const std::string used = TopFolder(include);
      if (include.find('/') != std::string::npos && IsOfOurs(used) && !MayUse(TopFolder(file), used)) {
        violations.push_back(file + " includes " + include + ": " + TopFolder(file) + " must not use " +
                             used);
      }
      if (IsV8Header(include) && !file.starts_with("worker/engine/")) {
        violations.push_back(file + " includes " + include + ": V8 belongs under worker/engine only");
      }
      if (IsZmqHeader(include) && !MayUseZmq(file)) {
        violations.push_back(file + " includes " + include + ": ZeroMQ belongs in the shells only");
      }
      if (include.starts_with("hiredis/") && !MayUseHiredis(file)) {
        violations.push_back(file + " includes " + include + ": hiredis belongs under broker/redis only");
      }
    }
  }
}

// What the rest of the tree includes of the engine must not bring V8 with it.
void CheckEngineHeaders(const SourceTree& tree, Violations& violations) {
  for (const auto& [file, text] : tree) {
    if (file.starts_with("worker/engine/") || file.ends_with("CMakeLists.txt")) continue;
    for (const auto& include : IncludesOf(text)) {
      if (!include.starts_with("worker/engine/")) continue;
      for (const auto& [reached, includer] : ReachedIncludes(tree, {include})) {
        if (!IsV8Header(reached)) continue;
        violations.push_back(file + " includes " + include + ", which brings " + reached + " by " + includer);
      }
    }
  }
}

void CheckLinks(const std::map<std::string, Target>& targets, Violations& violations) {
  for (const auto& [name, target] : targets) {
    for (const auto& link : target.links) {
      const auto linked = targets.find(link);
      if (linked == targets.end() || linked->second.folder.empty() || target.folder.empty()) continue;
      const std::string user = TopFolder(target.folder);
      const std::string used = TopFolder(linked->second.folder);
      if (!MayUse(user, used)) {
        violations.push_back("target " + name + " links " + link + ": " + user + " must not use " + used);
      }
    }
  }
}

void CheckCell(const SourceTree& tree, const std::map<std::string, Target>& targets, Violations& violations) {
  static const std::regex kForbidden(
      R"re(zmq.*|spdlog/.*|thread|future|condition_variable|pthread\.h|common/logging\.h)re");
  std::vector<std::string> sources;
  for (const auto& name : LinkClosure(targets, "skerry-cell")) {
    const auto& own = targets.at(name).sources;
    sources.insert(sources.end(), own.begin(), own.end());
  }
  if (sources.empty()) violations.push_back("no target skerry-cell with sources was found");
  for (const auto& source : sources) {
    if (!tree.contains(source)) violations.push_back("the cell's source " + source + " is not in the tree");
  }
  for (const auto& [include, includer] : ReachedIncludes(tree, sources)) {
    if (!std::regex_match(include, kForbidden)) continue;
    violations.push_back("the cell is made of " + includer + ", which includes " + include);
  }
}

}  // namespace

std::vector<std::string> FindViolations(const SourceTree& tree) {
  Violations violations;
  const auto targets = ReadTargets(tree);
  CheckIncludes(tree, violations);
  CheckEngineHeaders(tree, violations);
  CheckLinks(targets, violations);
  CheckCell(tree, targets, violations);
  return violations;
}

}  // namespace skerry::arrows
