// Memory: how much, who bounds it, how the kernel gives it.
#include <algorithm>
#include <sstream>

#include "clients/cli/doctor/probes.h"
#include "common/memory_groups.h"

namespace skerry::cli::doctor {
namespace {

// Two cells and their spares, then one job of the default 256 MiB, out of 80 % of what there is.
constexpr std::uint64_t kComfortableMib = 1024;
// Two cells of 64 MiB and the smallest job.
constexpr std::uint64_t kLeastMib = 192;

FileReader FilesOf(Machine& machine) {
  return [&machine](const std::string& path) { return machine.ReadFile(path); };
}

std::optional<std::uint64_t> RamMib(Machine& machine) {
  std::istringstream info(machine.ReadFile("/proc/meminfo").value_or(""));
  std::string key;
  std::uint64_t kib = 0;
  for (std::string rest; info >> key >> kib && std::getline(info, rest);) {
    if (key == "MemTotal:") return kib >> 10;
  }
  return std::nullopt;
}

void ProbeSize(Machine& machine, Findings& findings) {
  const auto ram = RamMib(machine);
  if (!ram) {
    findings.push_back(Poor("memory", "/proc/meminfo is not readable", "the worker sizes itself by it",
                            "mount /proc, or give the worker --memory-mb"));
    return;
  }
  const auto bound = MemoryBound(FilesOf(machine));
  const std::uint64_t usable = bound ? std::min(*ram, bound->mib()) : *ram;
  const std::string what = std::to_string(usable) + " MiB usable (RAM " + std::to_string(*ram) +
                           " MiB, cgroup " + (bound ? std::to_string(bound->mib()) + " MiB" : "unbounded") +
                           ")";
  constexpr const char* kWhy =
      "a worker takes 80 % of it for cells, spares and jobs, 256 MiB a job by default";
  if (usable < kLeastMib) {
    findings.push_back(Bad("memory", what, kWhy, "give the machine or its cgroup at least 1 GiB"));
  } else if (usable < kComfortableMib) {
    findings.push_back(Poor("memory", what, kWhy, "give it 1 GiB or more, or jobs a smaller memoryMb"));
  } else {
    findings.push_back(Good("memory", what, kWhy));
  }
}

void ProbeOvercommit(Machine& machine, Findings& findings) {
  const std::string mode = Word(machine, "/proc/sys/vm/overcommit_memory").value_or("unknown");
  constexpr const char* kWhy =
      "each fork promises the cell's whole memory once more, and V8 reserves far more than it uses";
  if (mode == "2") {
    findings.push_back(Poor("overcommit", "vm.overcommit_memory=2 (never)", kWhy,
                            "forks will fail under load: sysctl -w vm.overcommit_memory=0"));
  } else {
    findings.push_back(Good("overcommit", "vm.overcommit_memory=" + mode, kWhy));
  }
}

void ProbeHugePages(Machine& machine, Findings& findings) {
  const auto mode = Word(machine, "/sys/kernel/mm/transparent_hugepage/enabled");
  constexpr const char* kWhy = "a cell's code lies on huge pages: a third fewer page faults a job";
  if (!mode || mode->find("[never]") != std::string::npos) {
    findings.push_back(Poor("huge_pages", mode ? "off" : "not there", kWhy,
                            "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled"));
  } else {
    const std::size_t begin = mode->find('[');
    const std::size_t end = mode->find(']');
    findings.push_back(Good(
        "huge_pages",
        begin < end && end != std::string::npos ? mode->substr(begin + 1, end - begin - 1) : *mode, kWhy));
  }
}

/// By what a worker started from here would know the OOM killer's work from an operator's.
void ProbeOomCounter(Machine& machine, Findings& findings) {
  const OomCounter counter = FindOomCounter(FilesOf(machine));
  const std::string what(NameOf(counter.of));
  constexpr const char* kWhy =
      "whose OOM kills a worker started from here goes by, to tell OOM from LOST; its unit may have another";
  if (counter.of == OomCounter::Of::kMachine) {
    findings.push_back(Poor("oom_counter", what + " (" + counter.file + ")",
                            std::string(kWhy) + ": strangers' kills count as well",
                            "run workers in a control group of their own: systemd's MemoryMax=, or a "
                            "container's memory limit"));
  } else {
    findings.push_back(Good("oom_counter", what + ": " + counter.file, kWhy));
  }
}

void ProbeGroups(Machine& machine, Findings& findings) {
  const auto groups = OwnMemoryGroups(FilesOf(machine));
  const std::string group = OwnGroup(machine);
  constexpr const char* kWhy = "the worker reads its memory bound there; isolates are bounded without it";
  if (group.empty() && groups.empty()) {
    findings.push_back(Poor("cgroup", "none that bounds memory", kWhy,
                            "boot with systemd.unified_cgroup_hierarchy=1, or give the worker --memory-mb"));
    return;
  }
  const auto first = std::find_if(groups.begin(), groups.end(), [](const MemoryGroup& one) {
    return one.version == MemoryGroup::Version::k1;
  });
  if (first != groups.end()) {
    findings.push_back(Good("cgroup", "version 1, memory group /" + first->path.string(), kWhy));
    return;
  }
  const std::string controllers = Word(machine, group + "/cgroup.controllers").value_or("");
  const bool delegated =
      machine.CanWrite(group + "/cgroup.procs") && machine.CanWrite(group + "/cgroup.subtree_control");
  findings.push_back(Good("cgroup",
                          "version 2, controllers: " + (controllers.empty() ? "none" : controllers) +
                              (delegated ? ", delegated to us" : ", not delegated to us (nothing needs it)"),
                          kWhy));
}

}  // namespace

void ProbeMemory(Machine& machine, Findings& findings) {
  ProbeSize(machine, findings);
  ProbeGroups(machine, findings);
  ProbeOomCounter(machine, findings);
  ProbeOvercommit(machine, findings);
  ProbeHugePages(machine, findings);
}

}  // namespace skerry::cli::doctor
