// What this user may have: descriptors, processes, core files, space for sockets and files.
#include <algorithm>

#include "clients/cli/doctor/probes.h"
#include "clients/cpp/zmq_facts.h"

namespace skerry::cli::doctor {
namespace {

constexpr std::uint64_t kDescriptorsPerLease = 3;
// Sockets, logs, ZeroMQ's own; a broker has one per peer besides.
constexpr std::uint64_t kOtherDescriptors = 100;
// Broker, worker, cells, and whatever else this user runs.
constexpr std::uint64_t kOtherProcesses = 100;
constexpr std::uint64_t kLeastFreeMib = 64;

/// Isolates and spares of a worker with its defaults.
std::uint64_t DefaultIsolates(Machine& machine) {
  return std::uint64_t{4} * machine.Cores();
}

std::string Shown(std::uint64_t limit) {
  return limit == ResourceLimit::kUnlimited ? "unlimited" : std::to_string(limit);
}

void ProbeDescriptors(Machine& machine, Findings& findings) {
  const ResourceLimit limit = machine.LimitOf(Resource::kDescriptors);
  const std::uint64_t needed = kDescriptorsPerLease * DefaultIsolates(machine) + kOtherDescriptors;
  const std::string what = Shown(limit.soft) + ", at most " + Shown(limit.hard);
  constexpr const char* kWhy = "three for each isolate in the worker, one for each peer in the broker";
  if (limit.hard < needed) {
    findings.push_back(Bad("descriptors", what, kWhy,
                           "raise the hard limit to 65536 (ulimit -Hn, LimitNOFILE=, limits.conf)"));
  } else if (limit.soft < 1024) {
    findings.push_back(
        Poor("descriptors", what, kWhy, "ulimit -n 65536: the broker takes the soft limit as it is"));
  } else {
    findings.push_back(Good("descriptors", what, kWhy));
  }
}

void ProbeProcesses(Machine& machine, Findings& findings) {
  const std::uint64_t soft = machine.LimitOf(Resource::kProcesses).soft;
  const std::uint64_t group = SmallestInGroups(machine, "pids.max").value_or(ResourceLimit::kUnlimited);
  const std::uint64_t usable = std::min(soft, group);
  const std::uint64_t needed = DefaultIsolates(machine) + kOtherProcesses;
  const std::string what = "RLIMIT_NPROC " + Shown(soft) + ", cgroup " + Shown(group);
  constexpr const char* kWhy = "every job and every spare is a process";
  if (usable < DefaultIsolates(machine)) {
    findings.push_back(Bad("processes", what, kWhy, "raise ulimit -u, LimitNPROC= or TasksMax="));
  } else if (usable < needed) {
    findings.push_back(Poor("processes", what, kWhy, "raise ulimit -u, LimitNPROC= or TasksMax="));
  } else {
    findings.push_back(Good("processes", what, kWhy));
  }
}

void ProbeCores(Machine& machine, Findings& findings) {
  const std::uint64_t soft = machine.LimitOf(Resource::kCoreBytes).soft;
  if (soft == 0) {
    findings.push_back(
        Good("core_files", "off", "a broker's or worker's core file holds tenants' code and values"));
  } else {
    findings.push_back(
        Poor("core_files", Shown(soft) + " bytes",
             "a broker's or worker's core file holds tenants' code and values (cells never leave one)",
             "ulimit -c 0, LimitCORE=0"));
  }
}

void ProbeSpace(Machine& machine, const char* check, const std::string& path, const char* why,
                Findings& findings) {
  const auto free = machine.FreeSpace(path);
  if (!free || !machine.CanWrite(path)) {
    findings.push_back(Bad(check, path + (free ? " is not writable" : " is not there"), why,
                           "point TMPDIR to a folder that is"));
  } else if (free->mib() < kLeastFreeMib) {
    findings.push_back(Poor(check, path + " has " + std::to_string(free->mib()) + " MiB free", why,
                            "free some space, or point TMPDIR elsewhere"));
  } else {
    findings.push_back(Good(check, path + " has " + std::to_string(free->mib()) + " MiB free", why));
  }
}

void ProbeSharedMemory(Machine& machine, Findings& findings) {
  constexpr const char* kPath = "/dev/shm";
  constexpr const char* kWhy = "nothing of Skerry's lies there; programs beside it may fail without it";
  const auto free = machine.FreeSpace(kPath);
  if (free && free->mib() >= 1) {
    findings.push_back(Good("shm_space", "/dev/shm has " + std::to_string(free->mib()) + " MiB free", kWhy));
  } else {
    findings.push_back(Poor("shm_space", free ? "/dev/shm is full" : "/dev/shm is not there", kWhy,
                            "empty it, or mount a tmpfs there"));
  }
}

void ProbeZmq(Findings& findings) {
  const ZmqFacts facts = FactsOfZmq();
  if (!facts.has_ipc) {
    findings.push_back(
        Bad("zeromq", facts.version + " without ipc", "private pools talk over ipc", "use Debian's libzmq5"));
  } else if (!facts.has_curve) {
    findings.push_back(Poor("zeromq", facts.version + " without CURVE",
                            "links between machines are to be encrypted with it", "use Debian's libzmq5"));
  } else {
    findings.push_back(Good("zeromq", facts.version + " with CURVE", "every link is ZeroMQ"));
  }
}

}  // namespace

void ProbeResources(Machine& machine, Findings& findings) {
  ProbeDescriptors(machine, findings);
  ProbeProcesses(machine, findings);
  ProbeCores(machine, findings);
  ProbeSpace(machine, "temporary_space", machine.Variable("TMPDIR").value_or("/tmp"),
             "private pools have their sockets there", findings);
  ProbeSharedMemory(machine, findings);
  ProbeZmq(findings);
}

}  // namespace skerry::cli::doctor
