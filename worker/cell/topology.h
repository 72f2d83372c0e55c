// Starts a cell where DESIGN section 2 wants it: in namespaces of its own, beside an init stub, both children
// of the worker.
//
//   worker ── fork ──> helper: unshares (namespaces.h); the worker names its users
//     │                  ├─ clone(CLONE_PARENT) ──> skerry-init, PID 1: waits on its lifeline, then ends the
//     namespace │                  └─ clone(CLONE_PARENT) ──> skerry-cell └── parent of both; the helper
//     exits
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
#include "worker/cell/sandbox_report.h"

namespace skerry::cell {

struct CellCommand {
  std::vector<std::string> argv;  ///< of the cell
  std::string init_program;       ///< path of skerry-init
  SandboxMode sandbox = SandboxMode::kStrict;
};

struct SpawnedCell {
  Mechanisms namespaces;  ///< kEmptyRoot: a mount namespace, whose root the cell empties
  Fd pidfd;
  Fd init_pidfd;  ///< invalid: no PID namespace was to be had
  Fd lifeline;    ///< closing it ends the init stub, and with it everything in the namespace
};

/// Starts argv[0] with an empty environment and these descriptors only: 0 and 1 /dev/null, 2 `stderr_fd`,
/// 3 `control_fd`.
Result<SpawnedCell> SpawnCell(const CellCommand& command, int control_fd, int stderr_fd);

}  // namespace skerry::cell
