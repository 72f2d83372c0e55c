#include "worker/agent/memory_groups.h"

#include <fstream>
#include <string>

namespace skerry::agent {

std::vector<MemoryGroup> OwnMemoryGroups(const std::filesystem::path& root) {
  std::vector<MemoryGroup> groups;
  std::ifstream lines(root / "proc/self/cgroup");
  // hierarchy:controllers:path; version 2 has hierarchy 0 and no controllers.
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const std::filesystem::path path = std::filesystem::path(line.substr(second + 1)).relative_path();
    if (controllers == ",,") {
      groups.push_back({MemoryGroup::Version::k2, root / "sys/fs/cgroup", path});
    } else if (controllers.find(",memory,") != std::string::npos) {
      groups.push_back({MemoryGroup::Version::k1, root / "sys/fs/cgroup/memory", path});
    }
  }
  return groups;
}

}  // namespace skerry::agent
