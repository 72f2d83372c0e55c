#include "bench/report.h"

#include <spdlog/fmt/fmt.h>

#include <nlohmann/json.hpp>

namespace skerry::bench {

std::string TableHead() {
  return fmt::format("{:<10} {:>12} {:>9} {:>9} {:>10} {:>10} {:>12} {:>7}", "workload", "stack jobs/s",
                     "p50 ms", "p99 ms", "idle p50", "idle p99", "bare jobs/s", "ratio");
}

std::string TableRow(const Comparison& c) {
  return fmt::format("{:<10} {:>12.0f} {:>9.2f} {:>9.2f} {:>10.2f} {:>10.2f} {:>12.0f} {:>7.2f}", c.workload,
                     c.loaded.JobsPerSecond(), c.loaded.Percentile(0.5), c.loaded.Percentile(0.99),
                     c.idle.Percentile(0.5), c.idle.Percentile(0.99), c.bare_jobs_per_second, c.Ratio());
}

std::string JsonLine(const Comparison& c) {
  const nlohmann::ordered_json line = {
      {"bench", "stack"},
      {"workload", c.workload},
      {"jobsPerSecond", c.loaded.JobsPerSecond()},
      {"p50Ms", c.loaded.Percentile(0.5)},
      {"p99Ms", c.loaded.Percentile(0.99)},
      {"idleP50Ms", c.idle.Percentile(0.5)},
      {"idleP99Ms", c.idle.Percentile(0.99)},
      {"baseline", "bare"},
      {"baselineJobsPerSecond", c.bare_jobs_per_second},
      {"ratio", c.Ratio()},
  };
  return line.dump();
}

}  // namespace skerry::bench
