// What one measured stretch yields: how many jobs in how long, and how long each took.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace skerry::bench {

struct Sample {
  double seconds = 0;
  std::vector<double> latencies_ms;  ///< one per finished job

  double JobsPerSecond() const {
    return seconds > 0 ? static_cast<double>(latencies_ms.size()) / seconds : 0;
  }
  /// The smallest latency that `fraction` of the jobs did not exceed. Range of fraction: 0 to 1.
  double Percentile(double fraction) const {
    if (latencies_ms.empty()) return 0;
    std::vector<double> sorted = latencies_ms;
    const auto index = static_cast<std::size_t>(fraction * static_cast<double>(sorted.size() - 1));
    std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(index), sorted.end());
    return sorted[index];
  }
  /// Joins a stretch of the same measurement, run at another time.
  void Add(const Sample& other) {
    seconds += other.seconds;
    latencies_ms.insert(latencies_ms.end(), other.latencies_ms.begin(), other.latencies_ms.end());
  }
};

}  // namespace skerry::bench
