#include "worker/agent/machine.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <thread>

#include "worker/agent/memory_groups.h"

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

// The smallest limit from the group up to the mount.
std::uint64_t SmallestLimit(const MemoryGroup& group) {
  const char* file = group.version == MemoryGroup::Version::k2 ? "memory.max" : "memory.limit_in_bytes";
  std::uint64_t smallest = ReadLimit(group.mount / file);
  for (fs::path at = group.path; !at.empty(); at = at.parent_path()) {
    smallest = std::min(smallest, ReadLimit(group.mount / at / file));
  }
  return smallest;
}

std::uint64_t CgroupLimit(const fs::path& root) {
  std::uint64_t smallest = kNoLimit;
  for (const MemoryGroup& group : OwnMemoryGroups(root)) smallest = std::min(smallest, SmallestLimit(group));
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
