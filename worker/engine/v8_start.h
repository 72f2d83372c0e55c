// Starts V8 in this process: flags, platform, time zone, locale. Shared by the engine and by the baseline of
// bench/, which would be none under other flags.
//
// Threads: starts none. Ownership: the platform must outlive every isolate. Errors: one line.
#pragma once

#include <memory>

#include "common/result.h"
#include "worker/engine/clock_platform.h"
#include "worker/engine/engine.h"

namespace skerry::engine {

/// Once per process; flags are fixed from then on.
Result<std::unique_ptr<ClockPlatform>> StartV8(Jit jit);

}  // namespace skerry::engine
