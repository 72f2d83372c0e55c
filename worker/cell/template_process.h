// The part of a cell that knows no V8: tells the worker that it is ready, then forks an isolate per request
// until its control socket ends.
//
// Threads: strictly one: a fork copies the calling thread alone. Ownership: leaves by _exit.
// Errors: one line on stderr, which the worker reads, and an exit status.
#pragma once

#include <string_view>

#include "worker/cell/isolate_main.h"
#include "worker/cell/sandbox.h"

namespace skerry::cell {

struct TemplateOptions {
  SandboxMode sandbox = SandboxMode::kStrict;
  MachineCode machine_code = MachineCode::kMade;
  std::string_view v8_version;  ///< told to the worker; no space in it
  std::string_view v8_flags;    ///< told to the worker
  IsolateWork isolate;
  /// Last touches before the first fork, with nothing left to be set up.
  std::function<void()> settle = [] {};
};

/// Says `message` and returns the exit status for a cell that cannot start.
int Complain(std::string_view message);
inline constexpr int kUsage = 2;

/// Whether the control socket is there: whether a worker has started this process.
bool StartedByWorker();

/// Locks down, reports, forks. Returns an exit status where the cell cannot start, else never.
int ServeAsTemplate(const TemplateOptions& options);

}  // namespace skerry::cell
