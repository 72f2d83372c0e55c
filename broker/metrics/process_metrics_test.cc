#include "broker/metrics/process_metrics.h"

#include <gtest/gtest.h>
#include <prometheus/metric_family.h>

#include <ctime>
#include <map>

namespace skerry::broker {
namespace {

TEST(ProcessStat, IsReadBehindANameWithSpacesAndParentheses) {
  const auto stat = ParseProcessStat(
      "42 (a ) b (c)) S 1 42 42 0 -1 4194560 100 0 0 0 7 11 0 0 20 0 1 0 123456 2048000 500 "
      "18446744073709551615 "
      "1 1 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0");
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->user_ticks, 7u);
  EXPECT_EQ(stat->system_ticks, 11u);
  EXPECT_EQ(stat->start_ticks, 123456u);
  EXPECT_EQ(stat->virtual_bytes, 2048000u);
  EXPECT_EQ(stat->resident_pages, 500u);
}

TEST(ProcessStat, DamagedTextIsNone) {
  for (const char* text :
       {"", "42 (x", "42 (x) S 1 2", "42 (x) S a b c d e f g h i j k l m n o p q r s t u v"})
    EXPECT_FALSE(ParseProcessStat(text)) << text;
}

TEST(ProcessMetrics, AreThisProcessesOwn) {
  std::map<std::string, double> values;
  for (const auto& family : ProcessMetrics().Collect()) {
    const auto& metric = family.metric.at(0);
    values[family.name] =
        family.type == prometheus::MetricType::Counter ? metric.counter.value : metric.gauge.value;
  }
  EXPECT_EQ(values.size(), 6u);
  EXPECT_GT(values["process_resident_memory_bytes"], 1e6);
  EXPECT_GT(values["process_virtual_memory_bytes"], values["process_resident_memory_bytes"]);
  EXPECT_GE(values["process_open_fds"], 3);
  EXPECT_GT(values["process_max_fds"], values["process_open_fds"]);
  EXPECT_GE(values["process_cpu_seconds_total"], 0);
  const auto now = static_cast<double>(std::time(nullptr));
  EXPECT_LE(values["process_start_time_seconds"], now + 2);
  EXPECT_GT(values["process_start_time_seconds"], now - 3600);
}

}  // namespace
}  // namespace skerry::broker
