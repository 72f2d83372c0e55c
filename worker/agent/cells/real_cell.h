// Cells of worker/cell behind the agent's interface.
//
// What a cell that is forked from another may hold is set here, before it begins: a program cell and its
// isolates what RLIMIT_DATA allows its job; a library cell what it would allow one of kLibraryMb, until it is
// ready.
#pragma once

#include "worker/agent/cells/cell.h"
#include "worker/cell/cell_process.h"

namespace skerry::agent {

/// Starts cells with these options.
CellFactory RealCells(cell::CellOptions options);

}  // namespace skerry::agent
