// The life of a cell that was forked from another, up to where it can fork: takes its recipe, and does it.
//
// Threads: strictly one. Ownership: leaves by _exit. Errors: a refusal on its control socket, and the end of
// the process.
#pragma once

#include "worker/cell/template_process.h"

namespace skerry::cell {

/// Whose code a cell has evaluated, and so how it forks.
enum class Holds : bool { kNoTenantsCode, kAProgram };

/// In the fork: `control` becomes its control socket, every other descriptor but 0-2 is closed. Returns once
/// the recipe is done, and said to be.
Holds DoRecipe(const TemplateOptions& options, Mechanisms held, int control);

}  // namespace skerry::cell
