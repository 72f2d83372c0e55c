#include "broker/metrics/process_metrics.h"

#include <prometheus/metric_family.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <utility>

namespace skerry::broker {
namespace {

using prometheus::MetricFamily;
using prometheus::MetricType;

std::string ReadText(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void Add(std::vector<MetricFamily>& families, MetricType type, std::string name, std::string help,
         double value) {
  prometheus::ClientMetric metric;
  if (type == MetricType::Counter) {
    metric.counter.value = value;
  } else {
    metric.gauge.value = value;
  }
  families.push_back({std::move(name), std::move(help), type, {std::move(metric)}});
}

/// Seconds since 1970 at which the machine booted.
std::optional<double> BootTime() {
  std::istringstream stat(ReadText("/proc/stat"));
  for (std::string line; std::getline(stat, line);) {
    if (line.starts_with("btime ")) return std::stod(line.substr(6));
  }
  return std::nullopt;
}

}  // namespace

std::optional<ProcessStat> ParseProcessStat(std::string_view text) {
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string_view::npos) return std::nullopt;
  std::istringstream fields{std::string(text.substr(name_end + 1))};
  // proc(5): the third field comes first here; utime is the 14th, stime 15th, starttime 22nd, vsize, rss.
  std::vector<std::string> words{std::istream_iterator<std::string>(fields), {}};
  constexpr std::size_t kFirst = 3;
  if (words.size() < 24 - kFirst + 1) return std::nullopt;
  ProcessStat stat;
  try {
    stat.user_ticks = std::stoull(words[14 - kFirst]);
    stat.system_ticks = std::stoull(words[15 - kFirst]);
    stat.start_ticks = std::stoull(words[22 - kFirst]);
    stat.virtual_bytes = std::stoull(words[23 - kFirst]);
    stat.resident_pages = std::stoull(words[24 - kFirst]);
  } catch (const std::exception&) {
    return std::nullopt;
  }
  return stat;
}

std::vector<MetricFamily> ProcessMetrics::Collect() const {
  std::vector<MetricFamily> families;
  if (const auto stat = ParseProcessStat(ReadText("/proc/self/stat"))) {
    const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
    const auto page = static_cast<double>(sysconf(_SC_PAGESIZE));
    Add(families, MetricType::Counter, "process_cpu_seconds_total",
        "User and system CPU time spent by the broker, in seconds.",
        static_cast<double>(stat->user_ticks + stat->system_ticks) / ticks);
    Add(families, MetricType::Gauge, "process_resident_memory_bytes", "Resident memory of the broker.",
        static_cast<double>(stat->resident_pages) * page);
    Add(families, MetricType::Gauge, "process_virtual_memory_bytes", "Virtual memory of the broker.",
        static_cast<double>(stat->virtual_bytes));
    if (const auto boot = BootTime()) {
      Add(families, MetricType::Gauge, "process_start_time_seconds",
          "When the broker was started, in seconds since 1970.",
          *boot + static_cast<double>(stat->start_ticks) / ticks);
    }
  }
  std::error_code error;
  const auto fds = std::distance(std::filesystem::directory_iterator("/proc/self/fd", error), {});
  if (!error) {
    // The look itself has one open.
    Add(families, MetricType::Gauge, "process_open_fds", "Open file descriptors of the broker.",
        static_cast<double>(fds - 1));
  }
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
    Add(families, MetricType::Gauge, "process_max_fds", "The most file descriptors that it may have open.",
        static_cast<double>(files.rlim_cur));
  }
  return families;
}

}  // namespace skerry::broker
