// The baseline of engine and stack: loops of fresh V8 isolates inside processes of their own, without any of
// our stack, its limits or its containment: what a job costs where nobody is protected from it.
//
// Threads: the caller's; the loops run in children meanwhile. Errors: a child that fails is named.
#pragma once

#include <functional>

#include "bench/bench.h"
#include "bench/sample.h"
#include "bench/workload.h"
#include "common/result.h"

namespace skerry::bench {

struct BareFigures {
  double jobs_per_second = 0;  ///< of all processes together
  double cpu_us_per_job = 0;
};

/// One stretch of as many loops beside each other as there are cores.
Result<BareFigures> RunBareLoops(const Setting& setting, const Workload& workload);

/// Measures stretches of `load` and of a bare loop per core in turns, and reports a row with their ratio.
Status CompareWithBare(const Setting& setting, const Workload& workload,
                       const std::function<Result<Sample>(Millis)>& load);
/// What that ratio means, below the table.
void NoteOnBare(const Setting& setting);

}  // namespace skerry::bench
