// What the kernel offers: architecture, version, the calls that cells are made and walled in with.
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "clients/cli/doctor/probes.h"

namespace skerry::cli::doctor {
namespace {

// close_range came with 5.9, pidfds and CLONE_PIDFD before it.
constexpr int kOldestMajor = 5;
constexpr int kOldestMinor = 9;
constexpr std::int64_t kYear2024 = 1'704'067'200;

void ProbeVersion(Machine& machine, Findings& findings) {
  const std::string architecture = machine.Architecture();
  const std::string release = machine.KernelRelease();
  if (architecture == "x86_64") {
    findings.push_back(Good("architecture", architecture, "the V8 host and the filters are made for it"));
  } else {
    findings.push_back(Bad("architecture", architecture, "Skerry is built and tested for x86-64 only",
                           "run it on an x86-64 machine"));
  }
  int major = 0;
  int minor = 0;
  std::sscanf(release.c_str(), "%d.%d", &major, &minor);
  const bool new_enough = major > kOldestMajor || (major == kOldestMajor && minor >= kOldestMinor);
  if (new_enough) {
    findings.push_back(Good("kernel", release, "5.9 or newer has the calls that cells are started with"));
  } else {
    findings.push_back(Bad("kernel", release,
                           "cells are started with calls of Linux 5.9 (close_range, pidfds)",
                           "upgrade the kernel; Debian 12 has 6.1"));
  }
}

/// Who forbids namespaces, as far as the machine tells.
std::string HowToAllowNamespaces(Machine& machine) {
  if (Word(machine, "/proc/sys/kernel/unprivileged_userns_clone") == "0") {
    return "sysctl -w kernel.unprivileged_userns_clone=1";
  }
  if (Word(machine, "/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1") {
    return "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0, or an AppArmor profile with userns for "
           "skerry-worker";
  }
  if (Word(machine, "/proc/sys/user/max_user_namespaces") == "0") {
    return "sysctl -w user.max_user_namespaces=10000";
  }
  return "in a container: allow unshare and clone in its seccomp profile; under systemd: no "
         "RestrictNamespaces=";
}

void ProbeNamespaces(Machine& machine, Findings& findings) {
  const Answer answer = machine.Try(Facility::kNamespaces);
  if (answer.error == 0) {
    findings.push_back(Good("namespaces", "user and PID namespaces work",
                            "cells see no other process, and all end with their worker"));
    return;
  }
  findings.push_back(Poor("namespaces", std::string("unshare: ") + std::strerror(answer.error),
                          "cells run without a PID namespace of their own: one wall less around them",
                          HowToAllowNamespaces(machine)));
}

/// A call without which nothing runs.
void ProbeNeeded(Machine& machine, Facility facility, const char* check, const char* name, const char* why,
                 Findings& findings) {
  const Answer answer = machine.Try(facility);
  if (answer.error == 0) {
    findings.push_back(Good(check, std::string(name) + " works", why));
  } else {
    findings.push_back(Bad(check, std::string(name) + ": " + std::strerror(answer.error), why,
                           answer.error == EPERM
                               ? "something forbids it: look at the container's seccomp profile"
                               : "upgrade the kernel, or build it with this call"));
  }
}

void ProbeLandlock(Machine& machine, Findings& findings) {
  const Answer answer = machine.Try(Facility::kLandlock);
  if (answer.error == 0) {
    findings.push_back(Good("landlock", "ABI " + std::to_string(answer.value),
                            "a second wall around files; the seccomp filter is the first"));
  } else {
    findings.push_back(Poor("landlock", std::string("not there: ") + std::strerror(answer.error),
                            "a second wall around files; the seccomp filter refuses every open without it",
                            "add landlock to the kernel's lsm= list"));
  }
}

void ProbeClone3(Machine& machine, Findings& findings) {
  const Answer answer = machine.Try(Facility::kClone3);
  if (answer.error == 0 || answer.error == ENOSYS) {
    findings.push_back(Good("clone3", answer.error == 0 ? "works" : "not there, clone is",
                            "glibc makes threads with it, and falls back on ENOSYS only"));
  } else {
    findings.push_back(Bad("clone3", std::strerror(answer.error),
                           "glibc takes this for a failure: broker and worker cannot start threads",
                           "a container's old seccomp profile does this; upgrade Docker or libseccomp"));
  }
}

void ProbeClock(Machine& machine, Findings& findings) {
  const std::string source =
      Word(machine, "/sys/devices/system/clocksource/clocksource0/current_clocksource").value_or("unknown");
  if (source == "hpet" || source == "acpi_pm" || source == "jiffies") {
    findings.push_back(Poor("clock", "source " + source,
                            "reading it is a system call that costs microseconds",
                            "boot with clocksource=tsc if the machine's TSC is sound"));
  } else if (machine.Time() < kYear2024) {
    findings.push_back(Poor("clock", "the date is before 2024", "logs and jobs see the wrong time",
                            "set it, and run an NTP client"));
  } else {
    findings.push_back(Good("clock", "source " + source, "deadlines are measured with it"));
  }
}

}  // namespace

void ProbeKernel(Machine& machine, Findings& findings) {
  ProbeVersion(machine, findings);
  ProbeNamespaces(machine, findings);
  ProbeNeeded(machine, Facility::kSeccompFilter, "seccomp", "a seccomp filter",
              "programs are kept from the kernel by one", findings);
  ProbeLandlock(machine, findings);
  ProbeNeeded(machine, Facility::kPidfdOpen, "pidfd", "pidfd_open",
              "isolates are killed by pidfd, never by number", findings);
  ProbeNeeded(machine, Facility::kPidfdClone, "clone", "clone with CLONE_PIDFD",
              "cells fork isolates with it", findings);
  ProbeNeeded(machine, Facility::kCloseRange, "close_range", "close_range",
              "isolates drop the cell's descriptors with it", findings);
  ProbeClone3(machine, findings);
  ProbeClock(machine, findings);
}

}  // namespace skerry::cli::doctor
