// What the worker reads of an isolate's process and does to it, all from outside.
//
// Everything here works for an unprivileged worker on a non-dumpable child in another user namespace (DESIGN
// section 6.7): statm, status, the CPU clock, prlimit, a pidfd.
//
// Threads: pure system calls, any thread. Ownership: descriptors and pids are borrowed; a pid must be of a
// child not reaped yet, or it may name a stranger. Errors: a process that has ended reads as an Error;
// callers then wait for its exit instead.
#pragma once

#include <sys/types.h>

#include <optional>

#include "common/result.h"
#include "common/units.h"

namespace skerry::agent {

/// How a process ended, from the kernel.
struct ExitStatus {
  int signal = 0;  ///< 0: it exited by itself, with `code`
  int code = 0;
  Micros cpu{0};        ///< user and system time of its whole life
  Bytes peak_resident;  ///< ru_maxrss
};

/// From /proc/PID/statm.
struct MemoryReading {
  Bytes resident;   ///< private and shared pages, those of files included
  Bytes anonymous;  ///< the private part of it
  Bytes data;       ///< what RLIMIT_DATA counts (and the stack, some 130 KiB)
};

Result<MemoryReading> ReadMemory(pid_t pid);
/// Resident anonymous and shared-memory pages: what a job made, without pages of program files. Costs more
/// than ReadMemory; for when that one looks bad.
Result<Bytes> ReadPrivateMemory(pid_t pid);
Result<Micros> ReadCpuTime(pid_t pid);
/// Private memory above that of `baseline`, cheaply where that is within `budget`.
std::optional<Bytes> ReadGrowth(pid_t pid, const MemoryReading& baseline, Bytes budget);
/// Sets RLIMIT_DATA, soft and hard: the process cannot raise it back.
Status LimitData(pid_t pid, Bytes limit);
/// Sets the soft limit alone, which can be lifted again; none: to the hard one.
Status LimitDataForNow(pid_t pid, std::optional<Bytes> limit);
/// The same with a soft limit below it, which can be raised again from outside (the sandbox has no call for
/// it).
Status LimitData(pid_t pid, Bytes soft, Bytes hard);
/// The most that was resident in its life so far.
Result<Bytes> ReadPeakResident(pid_t pid);
/// Lowers its scheduling priority, so that a spinning program does not delay its neighbours (DESIGN
/// section 6.10).
void LowerPriority(pid_t pid);

void KillProcess(int pidfd);
/// Reaps the process if it has ended.
std::optional<ExitStatus> TryReap(int pidfd);
/// How it ended, if it has, without reaping it.
std::optional<ExitStatus> PeekExit(int pidfd);
/// Waits for its end. Only for a process that was killed.
void ReapBlocking(int pidfd);

}  // namespace skerry::agent
