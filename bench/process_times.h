// CPU time and minor page faults of other processes, and of the children that they have reaped, from
// /proc/PID/stat.
//
// The kernel counts in ticks of 10 ms: good for thousands of jobs, not for one.
//
// Threads: pure reads. Errors: a process that is gone, or a file that is not as expected.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string_view>

#include "common/result.h"

namespace skerry::bench {

struct Spent {
  double user_us = 0;
  double kernel_us = 0;
  double faults = 0;
  double cpu_us() const { return user_us + kernel_us; }
  Spent operator-(const Spent& other) const {
    return {user_us - other.user_us, kernel_us - other.kernel_us, faults - other.faults};
  }
  Spent operator+(const Spent& other) const {
    return {user_us + other.user_us, kernel_us + other.kernel_us, faults + other.faults};
  }
};

struct ProcessTimes {
  pid_t parent = -1;
  Spent own;
  Spent reaped;                     ///< by children that it has waited for, theirs included
  std::uint64_t started_ticks = 0;  ///< since the machine's start
};

Result<ProcessTimes> ParseStat(std::string_view stat, long ticks_per_second);
Result<ProcessTimes> ReadProcessTimes(pid_t pid);
/// The worker's cell: of its children that run skerry-cell the one that is oldest. Its forks look the same
/// but for their age.
Result<pid_t> FindCell(pid_t worker);
/// VmRSS.
Result<std::uint64_t> ReadResidentBytes(pid_t pid);

}  // namespace skerry::bench
