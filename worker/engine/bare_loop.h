// The baseline of bench/: programs in fresh isolates inside this one process, made and disposed of one after
// another, with the engine's flags, snapshot and bindings, but without fork, limits or containment. An idle
// isolate is kept alive, since V8 otherwise rebuilds its shared read-only heap for each.
//
// Threads: one. Ownership: one per process. Errors: Start and RunOne fail as Engine::Start does.
#pragma once

#include <memory>

#include "common/outcome.h"
#include "common/result.h"
#include "worker/engine/engine.h"
#include "worker/engine/job_port.h"

namespace skerry::engine {

class BareLoop {
 public:
  static Result<std::unique_ptr<BareLoop>> Start(const EngineOptions& options);
  virtual ~BareLoop() = default;

  /// A fresh isolate and context, the program, its value as JSON text, and the isolate's end. `port` answers
  /// its host calls.
  virtual Outcome RunOne(const Program& program, JobPort& port) = 0;
};

}  // namespace skerry::engine
