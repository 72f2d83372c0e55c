// Landlock with nothing allowed: a second layer under seccomp that needs no privilege and no namespace.
//
// Everything that the running kernel's ABI can handle is handled and no rule is added: files (ABI 1), TCP
// (ABI 4), signals and abstract sockets outside (ABI 6). Source: Documentation/userspace-api/landlock.rst.
//
// Threads: the calling thread and what it clones. Errors: none; what cannot be had is not in the answer.
#pragma once

#include "worker/cell/sandbox_report.h"

namespace skerry::cell {

/// Needs no_new_privs. Returns the Landlock mechanisms that now hold.
Mechanisms ForbidByLandlock();

}  // namespace skerry::cell
