#include "common/testing/proc_fs.h"

#include <dirent.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>
#include <vector>

namespace skerry::testing {
namespace {

std::vector<pid_t> AllProcesses() {
  std::vector<pid_t> pids;
  DIR* folder = opendir("/proc");
  if (folder == nullptr) return pids;
  while (const dirent* entry = readdir(folder)) {
    const pid_t pid = std::atoi(entry->d_name);
    if (pid > 0) pids.push_back(pid);
  }
  closedir(folder);
  return pids;
}

// A number of /proc/PID/stat by its place in proc(5), which is past 3: the name before it may hold anything
// but its own last ')'. 0: no such process.
int StatNumber(pid_t pid, int place) {
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  std::getline(stat, line);
  const auto close = line.rfind(')');
  if (close == std::string::npos) return 0;
  std::istringstream fields(line.substr(close + 1));
  std::string field;
  for (int at = 3; at <= place; ++at) fields >> field;
  return std::atoi(field.c_str());
}

pid_t ParentOf(pid_t pid) {
  return StatNumber(pid, 4);
}

}  // namespace

std::set<pid_t> ChildrenOf(pid_t parent) {
  std::set<pid_t> children;
  for (const pid_t pid : AllProcesses()) {
    if (ParentOf(pid) == parent) children.insert(pid);
  }
  return children;
}

std::set<pid_t> TreeOf(pid_t root) {
  std::multimap<pid_t, pid_t> by_parent;
  for (const pid_t pid : AllProcesses()) by_parent.emplace(ParentOf(pid), pid);
  std::set<pid_t> tree;
  std::vector<pid_t> open = {root};
  while (!open.empty()) {
    const pid_t pid = open.back();
    open.pop_back();
    if (!tree.insert(pid).second) continue;
    const auto [first, last] = by_parent.equal_range(pid);
    for (auto it = first; it != last; ++it) open.push_back(it->second);
  }
  return tree;
}

int NicenessOf(pid_t pid) {
  return StatNumber(pid, 19);
}

std::string StatusField(pid_t pid, const std::string& field) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with(field + ":")) continue;
    const auto start = line.find_first_not_of(" \t", field.size() + 1);
    return start == std::string::npos ? "" : line.substr(start);
  }
  return "";
}

std::uint64_t ResidentBytes(pid_t pid) {
  return std::strtoull(StatusField(pid, "VmRSS").c_str(), nullptr, 10) * 1024;
}

std::uint64_t ProportionalBytes(pid_t pid) {
  std::ifstream rollup("/proc/" + std::to_string(pid) + "/smaps_rollup");
  for (std::string line; std::getline(rollup, line);) {
    if (line.starts_with("Pss:")) return std::strtoull(line.c_str() + 4, nullptr, 10) * 1024;
  }
  return 0;
}

std::size_t DescriptorsOf(pid_t pid) {
  std::size_t count = 0;
  DIR* folder = opendir(("/proc/" + std::to_string(pid) + "/fd").c_str());
  if (folder == nullptr) return 0;
  while (const dirent* entry = readdir(folder)) count += entry->d_name[0] != '.' ? 1 : 0;
  closedir(folder);
  return count;
}

std::uint64_t PeakResidentBytes(pid_t pid) {
  return std::strtoull(StatusField(pid, "VmHWM").c_str(), nullptr, 10) * 1024;
}

bool IsGone(pid_t pid) {
  const std::string state = StatusField(pid, "State");
  return state.empty() || state[0] == 'Z' || state[0] == 'X';
}

bool IsGoneWithin(pid_t pid, std::chrono::milliseconds patience) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!IsGone(pid)) {
    if (std::chrono::steady_clock::now() >= end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

}  // namespace skerry::testing
