// Which system calls a cell and its isolates may make: seccomp allow-lists, each entry with its reason.
//
// The cell's filter is made once with libseccomp. Where the kernel can, a forbidden call is not killed on the
// spot: it waits, and the listener (seccomp user notification) tells the worker its name; the worker kills.
// Without a reader the call is answered ENOSYS, which forbids it as well. Each isolate adds a filter of its
// own, which kills.
//
// Threads: single-threaded processes only; a filter covers the calling thread and what it clones, for ever.
// Errors: one line; the caller must then end the process: fail closed.
#pragma once

#include "common/fd.h"
#include "common/result.h"

namespace skerry::cell {

struct CellFilter {
  Fd listener;  ///< for the worker; invalid: forbidden calls end in SIGSYS, unnamed
};

/// Whether V8 makes machine code: without, memory never becomes executable.
enum class MachineCode : bool { kNone, kMade };

/// Needs no_new_privs.
Result<CellFilter> FilterCell(MachineCode machine_code);

/// No clone, no new or passed descriptors, no further filters, signals to itself alone. Returns 0 or an
/// errno; allocates nothing, since it runs right after the fork.
int FilterIsolate();

}  // namespace skerry::cell
