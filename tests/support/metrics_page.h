// A broker's metrics as a test compares them: what an action moved, and by how much.
//
//   MetricsPage before = MetricsPage::Of(port);
//   ... act ...
//   EXPECT_EQ(MetricsPage::Of(port).Since(before, "skerry_limit_trips_total"), Moved({{R"({limit="cpuMs"})",
//   1}}));
//
// Threads: plain data. Errors: a page that cannot be had is empty.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace skerry::testing {

/// By labels, as the page writes them; "" for a metric without any.
using Moved = std::map<std::string, double>;

class MetricsPage {
 public:
  MetricsPage() = default;
  explicit MetricsPage(const std::string& text);
  static MetricsPage Of(std::uint16_t port);

  /// A series as the page writes it, 0 where there is none.
  double Value(const std::string& series) const;
  /// The sum of a metric's series.
  double Sum(const std::string& name) const;
  /// The series of a metric that changed since.
  Moved Since(const MetricsPage& before, const std::string& name) const;
  const std::map<std::string, double>& series() const { return series_; }

 private:
  std::map<std::string, double> series_;
};

/// Asks again and again until the page is as it should be; the last page. What workers count comes to the
/// broker once a second.
MetricsPage AwaitMetrics(std::uint16_t port, const std::function<bool(const MetricsPage&)>& as_it_should_be);

}  // namespace skerry::testing
