// What a cell and its isolates may ask of the kernel. Basic containment: no new privileges, no descriptors
// but their own, resource limits, and seccomp without network, files, exec and foreign signals. (Mount,
// network and IPC namespaces, Landlock and the ladder of levels are the containment issue's.)
//
// Order: the cell locks itself down once it is warm (LockDownCell); each isolate narrows that further before
// it reads a job (LockDownIsolate). Both are for ever: a filter cannot be taken off.
//
// Threads: single-threaded processes only; a filter covers the calling thread and what it clones.
// Errors: one line; the caller must then end the process: fail closed.
#pragma once

#include "common/result.h"

namespace skerry::cell {

/// Descriptors 0, 1, 2 become /dev/null; no core dumps, no file growth, then seccomp.
Status LockDownCell();

/// No clone, no new or passed descriptors, no further filters, signals to itself alone. Returns 0 or an
/// errno; allocates nothing, since it runs right after the fork.
int LockDownIsolate();

}  // namespace skerry::cell
