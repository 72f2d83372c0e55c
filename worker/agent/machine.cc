#include "worker/agent/machine.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <thread>

namespace skerry::agent {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

// "max", a missing file and what is no number are no limit.
std::uint64_t ReadLimit(const fs::path& file) {
  std::ifstream in(file);
  std::uint64_t bytes = 0;
  return in >> bytes ? bytes : kNoLimit;
}

// The smallest limit from `group` up to the mount. Inside a container the path is that of the host and may
// not exist here; the mount's own file is then the container's limit.
std::uint64_t SmallestLimit(const fs::path& mount, const fs::path& group, const char* file) {
  std::uint64_t smallest = ReadLimit(mount / file);
  for (fs::path at = group.relative_path(); !at.empty(); at = at.parent_path()) {
    smallest = std::min(smallest, ReadLimit(mount / at / file));
  }
  return smallest;
}

std::uint64_t CgroupLimit(const fs::path& root) {
  std::uint64_t smallest = kNoLimit;
  std::ifstream groups(root / "proc/self/cgroup");
  // hierarchy:controllers:path; version 2 has hierarchy 0 and no controllers.
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const fs::path group = line.substr(second + 1);
    if (controllers == ",,") {
      smallest = std::min(smallest, SmallestLimit(root / "sys/fs/cgroup", group, "memory.max"));
    } else if (controllers.find(",memory,") != std::string::npos) {
      smallest =
          std::min(smallest, SmallestLimit(root / "sys/fs/cgroup/memory", group, "memory.limit_in_bytes"));
    }
  }
  return smallest;
}

Bytes Ram(const fs::path& root) {
  std::ifstream in(root / "proc/meminfo");
  std::string key;
  std::uint64_t kib = 0;
  std::string rest;
  while (in >> key >> kib && std::getline(in, rest)) {
    if (key == "MemTotal:") return Bytes::KiB(kib);
  }
  return Bytes::MiB(1024);
}

}  // namespace

std::string BesideOwnBinary(const std::string& name) {
  std::error_code error;
  const auto own = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? name : (own.parent_path() / name).string();
}

unsigned UsableCores() {
  return std::max(1u, std::thread::hardware_concurrency());
}

Bytes UsableMemory(const fs::path& root) {
  return std::min(Ram(root), Bytes(CgroupLimit(root)));
}

}  // namespace skerry::agent
