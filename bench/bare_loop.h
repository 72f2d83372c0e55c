// The baseline: a loop of fresh V8 isolates inside processes of its own, without any of our stack, its limits
// or its containment: what a job costs where nobody is protected from it.
//
// Threads: the caller's; the loops run in `processes` children meanwhile. Errors: a child that fails is
// named.
#pragma once

#include <string>

#include "bench/workload.h"
#include "common/result.h"
#include "common/units.h"

namespace skerry::bench {

struct BareOptions {
  std::string program;  ///< path of skerry-bench-bare
  std::string workload_path;
  Millis duration{2'000};
  unsigned processes = 2;  ///< as many as the stack has cores
};

/// Jobs per second of all processes together.
Result<double> RunBareLoops(const BareOptions& options);

}  // namespace skerry::bench
