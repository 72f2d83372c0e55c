// stack: jobs per second through client, broker, worker and cell, beside a bare loop of fresh isolates.
#include "bench/bare_loop.h"
#include "bench/bench.h"
#include "bench/pool.h"
#include "bench/stack_load.h"

namespace skerry::bench {

Status RunStackBench(const Setting& setting) {
  const auto workloads = setting.WorkloadsOr({"trivial", "tool", "compute", "calls", "large"});
  if (!workloads) return Fail(workloads.error());
  auto pool = Pool::Start(setting.binaries);
  if (!pool) return Fail(pool.error());
  for (const Workload& workload : *workloads) {
    auto client = ConnectFor(workload, (*pool)->clients());
    if (!client) return Fail(client.error());
    const auto load = [&](Millis duration) {
      return LoadStack(**client, workload, duration, setting.in_flight());
    };
    if (auto compared = CompareWithBare(setting, workload, load); !compared) return compared;
  }
  NoteOnBare(setting);
  return {};
}

}  // namespace skerry::bench
