// engine: what a job costs in a process of its own, forked from a warm cell, beside a fresh isolate in a
// process that all jobs share.
#include "bench/bare_loop.h"
#include "bench/bench.h"
#include "bench/cell_load.h"

namespace skerry::bench {

Status RunEngineBench(const Setting& setting) {
  const auto workloads = setting.WorkloadsOr({"trivial", "tool", "compute", "calls", "large"});
  if (!workloads) return Fail(workloads.error());
  auto cell = CellLoad::Start(setting.binaries, std::size_t{2} * setting.cores);
  if (!cell) return Fail(cell.error());
  for (const Workload& workload : *workloads) {
    const auto load = [&](Millis duration) { return (*cell)->Run(workload, duration); };
    if (auto compared = CompareWithBare(setting, workload, load); !compared) return compared;
  }
  NoteOnBare(setting);
  return {};
}

}  // namespace skerry::bench
