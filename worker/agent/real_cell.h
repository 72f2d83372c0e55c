// Cells of worker/cell behind the agent's interface.
#pragma once

#include "worker/agent/cell.h"
#include "worker/cell/cell_process.h"

namespace skerry::agent {

/// Starts cells with these options.
CellFactory RealCells(cell::CellOptions options);

}  // namespace skerry::agent
