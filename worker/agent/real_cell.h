// Cells of worker/cell behind the agent's interface.
//
// What a cell that is forked from another may hold is set here, before it begins: a program cell and its
// isolates what RLIMIT_DATA allows its job; a library cell kLibrariesBudget, until it is ready.
#pragma once

#include "worker/agent/cell.h"
#include "worker/cell/cell_process.h"

namespace skerry::agent {

/// Memory of a library cell beyond that of the cell that it is forked from. What it passes ends it.
inline constexpr Bytes kLibrariesBudget = Bytes::MiB(256);

/// Starts cells with these options.
CellFactory RealCells(cell::CellOptions options);

}  // namespace skerry::agent
