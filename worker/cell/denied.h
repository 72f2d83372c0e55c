// What to say of a system call that a cell needs to lock itself down and that is refused to it.
//
// Threads: pure.
#pragma once

#include <cerrno>
#include <string>

#include "common/result.h"

namespace skerry::cell {

/// "<what>: <strerror>", and of EPERM who is likely to refuse `call` and what to do about it: the kernel
/// itself lets any process have these.
inline tl::unexpected<Error> FailDenied(const std::string& what, const std::string& call,
                                        int error_number = errno) {
  if (error_number != EPERM) return FailErrno(what, error_number);
  return FailErrno(what + " (a container's seccomp or AppArmor profile is likely to deny " + call +
                       ": allow it there, or run without that profile)",
                   error_number);
}

}  // namespace skerry::cell
