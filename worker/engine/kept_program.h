// A program that is compiled, and where it is a module evaluated, in a template: its forks go on from there.
//
// Threads: V8's. Ownership: persistent handles; an isolate with them is never disposed of.
#pragma once

#include <v8-function.h>
#include <v8-persistent-handle.h>
#include <v8-script.h>

#include "common/job.h"
#include "worker/engine/engine.h"
#include "worker/engine/program_source.h"

namespace skerry::engine {

/// One of the three, by the program's mode.
struct KeptProgram {
  v8::Global<v8::Function> function;
  v8::Global<v8::UnboundScript> script;
  v8::Global<v8::Module> module;
  Mode mode = Mode::kFunction;
  ProgramSource source;
  Seeding seeding = Seeding::kPerRun;
};

}  // namespace skerry::engine
