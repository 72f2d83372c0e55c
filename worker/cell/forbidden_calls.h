// The worker's end of seccomp user notification: which process of a cell made which forbidden system call.
//
// The process waits inside the call until it is killed. Only the fork of a program cell can be let go on:
// what makes it one is in registers, which nobody can change meanwhile (seccomp_unotify(2) on why that
// matters).
//
// Threads: any, one at a time. Errors: nothing to tell when the process is gone by now.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

namespace skerry::cell {

struct ForbiddenCall {
  pid_t pid = -1;    ///< in the reader's PID namespace
  std::string name;  ///< "socket"; "call 512" where libseccomp does not know it
  /// A program cell's fork, exactly (syscall_filter.h, kReportedForkFlags).
  bool is_fork = false;
  std::uint64_t id = 0;  ///< the kernel's, of this report
};

/// The next one waiting on `listener`, which must be readable: this blocks otherwise.
std::optional<ForbiddenCall> NextForbiddenCall(int listener);

/// Lets a fork happen that is_fork. Nothing happens where its process has died meanwhile.
void LetFork(int listener, const ForbiddenCall& fork);

}  // namespace skerry::cell
