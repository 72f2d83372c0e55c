// What one measured stretch yields: how many jobs in how long, and how long each took.
#pragma once

#include <vector>

#include "bench/statistics.h"

namespace skerry::bench {

struct Sample {
  double seconds = 0;
  std::vector<double> latencies_ms;  ///< one per finished job

  double JobsPerSecond() const {
    return seconds > 0 ? static_cast<double>(latencies_ms.size()) / seconds : 0;
  }
  double LatencyMs(double fraction) const { return Percentile(latencies_ms, fraction); }
  /// Joins a stretch of the same measurement, run at another time.
  void Add(const Sample& other) {
    seconds += other.seconds;
    latencies_ms.insert(latencies_ms.end(), other.latencies_ms.begin(), other.latencies_ms.end());
  }
};

}  // namespace skerry::bench
