// The worker's end of seccomp user notification: which process of a cell made which forbidden system call.
//
// The process waits inside the call until it is killed; nothing here ever lets it go on (seccomp_unotify(2)).
//
// Threads: any, one at a time. Errors: nothing to tell when the process is gone by now.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace skerry::cell {

struct ForbiddenCall {
  pid_t pid = -1;    ///< in the reader's PID namespace
  std::string name;  ///< "socket"; "call 512" where libseccomp does not know it
};

/// The next one waiting on `listener`, which must be readable: this blocks otherwise.
std::optional<ForbiddenCall> NextForbiddenCall(int listener);

}  // namespace skerry::cell
