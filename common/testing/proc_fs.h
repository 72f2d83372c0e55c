// What the kernel says about other processes, read from /proc.
//
// Threads: pure reads. Errors: a process that is gone reads as empty, zero or nothing.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>

namespace skerry::testing {

std::set<pid_t> ChildrenOf(pid_t parent);
/// A process, its children, theirs, and so on.
std::set<pid_t> TreeOf(pid_t root);
/// A field of /proc/PID/status, without leading blanks; empty: no such process or field.
std::string StatusField(pid_t pid, const std::string& field);
/// -20 (served first) to 19; 0 for a process that is gone.
int NicenessOf(pid_t pid);
/// VmRSS, in bytes.
std::uint64_t ResidentBytes(pid_t pid);
/// Pss, in bytes: each page shared by n processes counts as an n-th. Needs the right to trace `pid`.
std::uint64_t ProportionalBytes(pid_t pid);
/// Open descriptors; 0 where they cannot be listed.
std::size_t DescriptorsOf(pid_t pid);
/// VmHWM: the most that was ever resident, in bytes.
std::uint64_t PeakResidentBytes(pid_t pid);
/// Gone or a zombie.
bool IsGone(pid_t pid);
bool IsGoneWithin(pid_t pid, std::chrono::milliseconds patience);

}  // namespace skerry::testing
