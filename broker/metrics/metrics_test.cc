// What /metrics says, and that its names stay what dashboards and alerts know.
#include "broker/metrics/metrics.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

namespace skerry::broker {
namespace {

constexpr const char* kGolden = SKERRY_SOURCE_DIR "/broker/metrics/metrics_golden.txt";
constexpr const char* kPage = SKERRY_SOURCE_DIR "/docs/metrics.md";

std::string ReadText(const char* path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

bool Has(const std::string& text, const std::string& line) {
  return text.find(line) != std::string::npos;
}

/// As the page shows every metric: worker builds have a series only where there are workers.
std::vector<Metrics::Described> DescribeAll() {
  Metrics metrics;
  BrokerGauges gauges;
  gauges.builds[{"skerry/0.1.0", "14.6", "seccomp"}] = 1;
  metrics.Show({}, gauges);
  return metrics.Describe();
}

std::string Joined(const std::vector<std::string>& labels) {
  std::string joined;
  for (const std::string& label : labels) joined += (joined.empty() ? "" : ",") + label;
  return joined.empty() ? "-" : joined;
}

// SKERRY_WRITE_GOLDEN=1 renews the file after a deliberate change; docs/metrics.md must follow.
TEST(MetricNames, AreThoseOfTheGoldenFileWithTheirTypesAndLabels) {
  std::string text;
  for (const auto& metric : DescribeAll())
    text += metric.name + " " + metric.type + " " + Joined(metric.labels) + "\n";
  if (std::getenv("SKERRY_WRITE_GOLDEN") != nullptr) std::ofstream(kGolden) << text;
  EXPECT_EQ(text, ReadText(kGolden));
}

TEST(MetricNames, EachHasItsRowInTheDocumentation) {
  std::map<std::string, std::string> rows;
  std::istringstream page(ReadText(kPage));
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with("| `skerry_") && !line.starts_with("| `process_")) continue;
    const std::size_t end = line.find('`', 3);
    const std::string name = line.substr(3, end - 3);
    EXPECT_TRUE(rows.emplace(name, line).second) << name << " has two rows";
  }
  for (const auto& metric : DescribeAll()) {
    std::string labels;
    for (const std::string& label : metric.labels) labels += (labels.empty() ? "`" : ", `") + label + "`";
    const std::string start =
        "| `" + metric.name + "` | " + metric.type + " | " + (labels.empty() ? "–" : labels) + " | ";
    const auto row = rows.find(metric.name);
    ASSERT_NE(row, rows.end()) << "docs/metrics.md lacks a row: " << start << metric.help << " |";
    EXPECT_TRUE(row->second.starts_with(start)) << row->second << "\n should begin " << start;
    rows.erase(row);
  }
  for (const auto& [name, row] : rows)
    ADD_FAILURE() << "docs/metrics.md tells of a metric that is none: " << row;
}

TEST(MetricNames, HaveARowForEveryLimitOfTheDesign) {
  const std::string text = Metrics().Text();
  for (const char* limit :
       {"memoryMb", "timeoutMs", "cpuMs", "maxCodeBytes", "maxDataRequests", "maxDataBytes", "maxParamsBytes",
        "maxResultBytes", "maxStatusEvents", "maxConsoleEvents", "maxEventBytes", "maxEventsTotalBytes",
        "maxConcurrentIsolates", "workerMemoryMb"}) {
    EXPECT_TRUE(Has(text, "skerry_limit_trips_total{limit=\"" + std::string(limit) + "\"} 0\n")) << limit;
  }
}

TEST(MetricsText, ShowsCountersAndGaugesAndNeverCountsTwice) {
  Metrics metrics;
  BrokerCounters counters;
  counters.submitted = 5;
  counters.finished_error[static_cast<std::size_t>(Code::kTimeout)] = 2;
  counters.limit_trips[static_cast<std::size_t>(LimitId::kTimeoutMs)] = 2;
  counters.pool_limit_trips[static_cast<std::size_t>(PoolLimit::kWorkerMemoryMb)] = 1;
  counters.workers.Count(IsolateExit::kSegv);
  BrokerGauges gauges;
  for (gauges.queued = 3; gauges.queued < 5; ++gauges.queued) metrics.Show(counters, gauges);
  const std::string text = metrics.Text();
  for (const char* line :
       {"skerry_jobs_submitted_total 5\n", "skerry_jobs_finished_total{code=\"TIMEOUT\"} 2\n",
        "skerry_limit_trips_total{limit=\"timeoutMs\"} 2\n",
        "skerry_limit_trips_total{limit=\"memoryMb\"} 0\n",
        "skerry_limit_trips_total{limit=\"workerMemoryMb\"} 1\n",
        "skerry_isolate_exits_total{cause=\"sigsegv\"} 1\n", "skerry_queued_jobs 4\n",
        "skerry_build_info{version=\"0.1.0\"} 1\n"}) {
    EXPECT_TRUE(Has(text, line)) << line << text;
  }
}

TEST(MetricsText, AddsUpHistogramsOnce) {
  Metrics metrics;
  BrokerCounters counters;
  counters.run_times.Observe(Micros(700));
  counters.run_times.Observe(std::chrono::hours(1));
  metrics.Show(counters, {});
  metrics.Show(counters, {});
  const std::string text = metrics.Text();
  for (const char* line :
       {"skerry_job_run_seconds_count 2\n", "skerry_job_run_seconds_bucket{le=\"0.0005\"} 0\n",
        "skerry_job_run_seconds_bucket{le=\"0.001\"} 1\n", "skerry_job_run_seconds_bucket{le=\"600\"} 1\n",
        "skerry_job_run_seconds_bucket{le=\"+Inf\"} 2\n"}) {
    EXPECT_TRUE(Has(text, line)) << line << text;
  }
}

TEST(MetricsText, NamesAtMostSixteenBuildsOfWorkersAndForgetsThoseThatLeft) {
  Metrics metrics;
  BrokerGauges gauges;
  for (int i = 0; i < 40; ++i) gauges.builds[{"v" + std::to_string(100 + i), "8", "none"}] = 1;
  metrics.Show({}, gauges);
  const auto series = [&] {
    std::istringstream text(metrics.Text());
    std::vector<std::string> lines;
    for (std::string line; std::getline(text, line);)
      if (line.starts_with("skerry_worker_info{")) lines.push_back(line);
    return lines;
  };
  EXPECT_EQ(series().size(), Metrics::kMaxBuilds + 1);
  EXPECT_TRUE(Has(metrics.Text(), "version=\"other\"} 24\n") || Has(metrics.Text(), "v8=\"other\"} 24\n"));
  gauges.builds = {{{"v1", "8", "none"}, 2}};
  metrics.Show({}, gauges);
  EXPECT_EQ(series().size(), 1u);
}

}  // namespace
}  // namespace skerry::broker
