#include "bench/bench.h"

namespace skerry::bench {

Result<std::vector<Workload>> Setting::WorkloadsOr(const std::vector<std::string>& usual) const {
  if (!workloads.empty()) return workloads;
  std::vector<Workload> chosen;
  for (const std::string& name : usual) {
    if (chosen.size() == workload_count) break;
    auto workload = FindWorkload(name);
    if (!workload) return Fail(workload.error());
    chosen.push_back(std::move(*workload));
  }
  return chosen;
}

const std::vector<Bench>& AllBenches() {
  static const std::vector<Bench> benches = {
      {"engine", "forked isolates through a cell, beside a bare loop of fresh isolates in one process", true,
       &RunEngineBench},
      {"stack", "the same through client, broker, worker and cell", true, &RunStackBench},
      {"ready-made",
       "libraries, programs kept evaluated and isolates used again, beside the same jobs without", true,
       &RunReadyMadeBench},
      {"broker", "the broker with stub workers beside zmq_proxy; memory of a queued job; growth by 10×", true,
       &RunBrokerBench},
      {"latency", "one job at a time and at half load, beside a bare ZeroMQ round trip over the same hops",
       true, &RunLatencyBench},
      {"overload", "5× as many jobs as the pool can run: what it still completes, how fast it refuses", true,
       &RunOverloadBench},
      {"scaling", "two and four workers beside one; the core with 10,000 workers and 10,000 tenants", false,
       &RunScalingBench},
      {"costs", "CPU time of a job by part: client, broker, worker, cell, isolate", true, &RunCostsBench},
      {"peers", "isolated-vm, worker_threads, node, workerd and QuickJS (installs them with npm)", false,
       &RunPeersBench},
  };
  return benches;
}

}  // namespace skerry::bench
