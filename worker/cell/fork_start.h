// What every process that a cell has forked does first, whether an isolate or another cell.
//
// Threads: one. Errors: none; a process that cannot be locked down ends.
#pragma once

namespace skerry::cell {

/// Its exit code then. Not a signal's and not 0: the worker sees an exit without a final.
inline constexpr int kLockDownFailed = 120;

/// Keeps `socket` alone of what it inherits, as descriptor `number`, and dies with its parent.
void BeginFork(int socket, int number);

}  // namespace skerry::cell
