// The life of an isolate, from just after its fork to its exit: lock down, wait for a job, run it, tell,
// leave.
//
// Threads: one. Ownership: never returns, never runs destructors of what the template owns.
#pragma once

#include "worker/engine/engine.h"

namespace skerry::cell {

/// Encodes the record that the out-of-memory path writes, while there is memory for it. Call once in the
/// template.
void PrepareOutOfMemoryRecord();

/// `socket` is the isolate's end of its socket; every other descriptor but 0-2 is closed.
[[noreturn]] void RunIsolate(engine::Engine& engine, int socket);

}  // namespace skerry::cell
