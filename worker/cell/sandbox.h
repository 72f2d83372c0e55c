// What a cell and its isolates cannot do to anybody else, layer by layer (DESIGN section 7): namespaces with
// an empty root, no capabilities and nobody's user, Landlock with nothing allowed, seccomp with a list,
// resource limits.
//
// Order: the cell locks itself down once it is warm (LockDownCell); each isolate narrows that further before
// it reads a job (LockDownIsolate). Both are for ever.
//
// Threads: single-threaded processes only. Errors: one line; the caller must then end the process: fail
// closed.
#pragma once

#include "common/fd.h"
#include "common/result.h"
#include "worker/cell/sandbox_report.h"
#include "worker/cell/syscall_filter.h"

namespace skerry::cell {

struct LockDownOptions {
  SandboxMode mode = SandboxMode::kStrict;
  Mechanisms namespaces;  ///< those that the process is in; kEmptyRoot: a mount namespace of its own
  MachineCode machine_code = MachineCode::kMade;
};

struct LockedDown {
  Mechanisms mechanisms;  ///< all that hold now
  Fd listener;            ///< see CellFilter
};

/// Descriptors 0, 1, 2 become /dev/null; no core dumps, no file growth, first to go when memory is short;
/// then everything that the kernel grants. Strict fails where a property is missing, and says how to grant
/// it. Off does nothing at all.
Result<LockedDown> LockDownCell(const LockDownOptions& options);

/// Of a cell that has been locked down, before it sees a program. Returns 0 or an errno.
int LockDownProgramCell(Mechanisms held, int control_socket);

/// Returns 0 or an errno; allocates nothing, since it runs right after the fork. `held`: by its cell.
int LockDownIsolate(Mechanisms held);

}  // namespace skerry::cell
