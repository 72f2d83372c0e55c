#include "common/memory_groups.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <sstream>

namespace skerry {
namespace {

namespace fs = std::filesystem;

// Version 1 has no word for "unlimited": it shows the largest number of pages that it can count.
constexpr std::uint64_t kSurelyUnlimited = std::uint64_t{1} << 62;

// "max" and what is no number are no limit.
std::optional<std::uint64_t> ReadLimit(const FileReader& files, const fs::path& file) {
  std::istringstream in(files(file.string()).value_or(""));
  std::uint64_t bytes = 0;
  if (!(in >> bytes) || bytes >= kSurelyUnlimited) return std::nullopt;
  return bytes;
}

// All three files have a line `oom_kill N` among others of that form.
std::optional<std::uint64_t> CountIn(const FileReader& files, const std::string& file) {
  std::istringstream in(files(file).value_or(""));
  std::string key;
  for (std::uint64_t value = 0; in >> key >> value;) {
    if (key == "oom_kill") return value;
  }
  return std::nullopt;
}

}  // namespace

FileReader FilesUnder(const fs::path& root) {
  return [root](const std::string& path) -> std::optional<std::string> {
    std::ifstream in(root / fs::path(path).relative_path());
    if (!in) return std::nullopt;
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
}

std::vector<MemoryGroup> OwnMemoryGroups(const FileReader& files) {
  std::vector<MemoryGroup> groups;
  std::istringstream lines(files("/proc/self/cgroup").value_or(""));
  // hierarchy:controllers:path; version 2 has hierarchy 0 and no controllers.
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const fs::path path = fs::path(line.substr(second + 1)).relative_path();
    if (controllers == ",,") {
      groups.push_back({MemoryGroup::Version::k2, "/sys/fs/cgroup", path});
    } else if (controllers.find(",memory,") != std::string::npos) {
      groups.push_back({MemoryGroup::Version::k1, "/sys/fs/cgroup/memory", path});
    }
  }
  return groups;
}

std::optional<Bytes> MemoryBound(const FileReader& files) {
  std::optional<std::uint64_t> smallest;
  const auto take = [&](const fs::path& file) {
    if (const auto limit = ReadLimit(files, file)) smallest = std::min(smallest.value_or(*limit), *limit);
  };
  for (const MemoryGroup& group : OwnMemoryGroups(files)) {
    const char* file = group.version == MemoryGroup::Version::k2 ? "memory.max" : "memory.limit_in_bytes";
    take(group.mount / file);
    for (fs::path at = group.path; !at.empty(); at = at.parent_path()) take(group.mount / at / file);
  }
  if (!smallest) return std::nullopt;
  return Bytes(*smallest);
}

OomCounter FindOomCounter(const FileReader& files) {
  for (const MemoryGroup& group : OwnMemoryGroups(files)) {
    const bool second = group.version == MemoryGroup::Version::k2;
    const char* file = second ? "memory.events" : "memory.oom_control";
    for (const fs::path& folder : {group.mount / group.path, group.mount}) {
      const std::string at = (folder / file).string();
      if (CountIn(files, at)) return {second ? OomCounter::Of::kGroup2 : OomCounter::Of::kGroup1, at};
    }
  }
  return {OomCounter::Of::kMachine, "/proc/vmstat"};
}

std::string_view NameOf(OomCounter::Of of) {
  constexpr std::array<std::string_view, 3> kNames = {"own group (cgroup version 2)",
                                                      "own group (cgroup version 1)", "whole machine"};
  return kNames[static_cast<std::size_t>(of)];
}

std::optional<std::uint64_t> ReadOomKills(const FileReader& files, const OomCounter& counter) {
  return CountIn(files, counter.file);
}

}  // namespace skerry
