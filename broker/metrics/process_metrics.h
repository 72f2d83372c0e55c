// This process as every Prometheus client shows its own: process_* from /proc/self. prometheus-cpp has no
// collector for it.
//
// Threads: Collect from any. Errors: a figure that cannot be read is left out.
#pragma once

#include <prometheus/collectable.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace skerry::broker {

/// From /proc/PID/stat; times in clock ticks, memory in pages and bytes as the kernel writes them.
struct ProcessStat {
  std::uint64_t user_ticks = 0;
  std::uint64_t system_ticks = 0;
  std::uint64_t start_ticks = 0;  ///< since the machine's boot
  std::uint64_t virtual_bytes = 0;
  std::uint64_t resident_pages = 0;
};
/// The program's name in it may hold spaces and parentheses.
std::optional<ProcessStat> ParseProcessStat(std::string_view text);

class ProcessMetrics final : public prometheus::Collectable {
 public:
  std::vector<prometheus::MetricFamily> Collect() const override;
};

}  // namespace skerry::broker
