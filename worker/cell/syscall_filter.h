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

#include <sched.h>
#include <signal.h>

#include <cstdint>

#include "common/fd.h"
#include "common/result.h"

namespace skerry::cell {

/// The fork of a cell that runs no tenant's code, exactly: the worker becomes the parent.
inline constexpr std::uint64_t kForkFlags = CLONE_PARENT | CLONE_PIDFD | SIGCHLD;
/// The fork of a program cell. CLONE_UNTRACED, which changes nothing, keeps it off the base filter's list: so
/// it waits until the worker lets it happen.
inline constexpr std::uint64_t kReportedForkFlags = kForkFlags | CLONE_UNTRACED;

struct CellFilter {
  Fd listener;  ///< for the worker; invalid: forbidden calls end in SIGSYS, unnamed
};

/// Whether V8 makes machine code: without, memory never becomes executable.
enum class MachineCode : bool { kNone, kMade };

/// Needs no_new_privs.
Result<CellFilter> FilterCell(MachineCode machine_code);

/// On top of FilterCell, in a cell before it sees a tenant's program: it can receive and send on its control
/// socket, fork isolates when the worker lets it (kReportedForkFlags; any other clone is death), and
/// otherwise no more than these can. They cannot abort by SIGABRT any more, since a filter cannot tell whose
/// number a signal is for: it is refused, and abort ends in SIGSEGV. Returns 0 or an errno; allocates
/// nothing.
int FilterProgramCell(int control_socket);

/// No clone, no new or passed descriptors, no further filters, signals to itself alone. Returns 0 or an
/// errno; allocates nothing, since it runs right after the fork.
int FilterIsolate();

}  // namespace skerry::cell
