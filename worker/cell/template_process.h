// The part of a cell that knows no V8: tells the worker that it is ready, then forks an isolate or another
// cell per request until its control socket ends.
//
// A cell that is forked from it does its recipe (recipe.h) behind its own control socket and then serves in
// the same way, if it has been given libraries; if it has been given a program, it is as hostile as that from
// then on, and forks isolates alone, each when the worker lets it (syscall_filter.h, FilterProgramCell).
//
// Threads: strictly one: a fork copies the calling thread alone. Ownership: leaves by _exit.
// Errors: one line on stderr, which the worker reads, and an exit status; of a cell that was forked, a
// refusal on its control socket.
#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "common/result.h"
#include "worker/cell/isolate_main.h"
#include "worker/cell/recipe.h"
#include "worker/cell/sandbox.h"
#include "worker/engine/unkeepable.h"

namespace skerry::cell {

/// What a cell does of a recipe.
struct RecipeWork {
  /// Evaluates a library. The error is one line.
  std::function<Status(const Library& library)> load;
  /// Compiles, and where that is possible evaluates, a tenant's program; or says why it cannot be kept.
  std::function<std::optional<engine::Unkeepable>(const CellProgram& program)> keep;
};

struct TemplateOptions {
  SandboxMode sandbox = SandboxMode::kStrict;
  MachineCode machine_code = MachineCode::kMade;
  std::string_view v8_version;  ///< told to the worker; no space in it
  std::string_view v8_flags;    ///< told to the worker
  IsolateWork isolate;
  RecipeWork recipe;
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
