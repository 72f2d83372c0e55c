#include "clients/cli/doctor/machine.h"

#include <algorithm>
#include <charconv>
#include <sstream>

namespace skerry::cli::doctor {
namespace {

constexpr const char* kMount = "/sys/fs/cgroup";

}  // namespace

std::optional<std::string> Word(Machine& machine, const std::string& path) {
  const auto text = machine.ReadFile(path);
  if (!text) return std::nullopt;
  const std::size_t begin = text->find_first_not_of(" \t\n");
  if (begin == std::string::npos) return std::string();
  return text->substr(begin, text->find_last_not_of(" \t\n") - begin + 1);
}

std::optional<std::uint64_t> NumberIn(Machine& machine, const std::string& path) {
  const auto word = Word(machine, path);
  if (!word) return std::nullopt;
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(word->data(), word->data() + word->size(), number);
  if (error != std::errc() || end != word->data() + word->size()) return std::nullopt;
  return number;
}

std::string OwnGroup(Machine& machine) {
  std::istringstream groups(machine.ReadFile("/proc/self/cgroup").value_or(""));
  for (std::string line; std::getline(groups, line);) {
    if (!line.starts_with("0::")) continue;
    const std::string path = line.substr(3);
    // Inside a container the path may be the host's; the mount itself is then ours.
    const std::string group = path == "/" ? kMount : kMount + path;
    if (machine.ReadFile(group + "/cgroup.controllers")) return group;
    if (machine.ReadFile(std::string(kMount) + "/cgroup.controllers")) return kMount;
  }
  return {};
}

std::optional<std::uint64_t> SmallestInGroups(Machine& machine, const std::string& file) {
  std::optional<std::uint64_t> smallest;
  for (std::string group = OwnGroup(machine); group.size() >= std::string_view(kMount).size();
       group = group.substr(0, group.rfind('/'))) {
    if (const auto number = NumberIn(machine, group + "/" + file)) {
      smallest = std::min(smallest.value_or(*number), *number);
    }
  }
  return smallest;
}

}  // namespace skerry::cli::doctor
