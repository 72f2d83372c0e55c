// Starts a cell where DESIGN section 2 wants it: in user and PID namespaces of its own, beside an init stub,
// both children of the worker.
//
//   worker ── fork ──> helper: unshare(USER|PID)
//     │                  ├─ clone(CLONE_PARENT) ──> init stub, PID 1: waits on its lifeline, then ends the
//     namespace │                  └─ clone(CLONE_PARENT) ──> cell: execs skerry-cell └── parent of both; the
//     helper exits
//
// The cell must not be PID 1 itself: the kernel refuses CLONE_PARENT there, and the worker could not reap
// isolates. Without namespaces (the kernel or a container profile denies them) the cell is started alone.
//
// Threads: the caller may have others; the children run only async-signal-safe code until exec.
#pragma once

#include <string>
#include <vector>

#include "common/fd.h"
#include "common/result.h"

namespace skerry::cell {

struct SpawnedCell {
  Fd pidfd;
  Fd init_pidfd;  ///< invalid: no namespaces were to be had
  Fd lifeline;    ///< closing it ends the init stub, and with it everything in the namespace
};

/// Starts argv[0] with an empty environment and these descriptors only: 0 and 1 /dev/null, 2 `stderr_fd`,
/// 3 `control_fd`.
Result<SpawnedCell> SpawnCell(const std::vector<std::string>& argv, int control_fd, int stderr_fd);

}  // namespace skerry::cell
