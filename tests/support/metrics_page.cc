#include "tests/support/metrics_page.h"

#include <chrono>
#include <cstdlib>
#include <sstream>
#include <thread>

#include "tests/support/http.h"

namespace skerry::testing {

MetricsPage::MetricsPage(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t space = line.rfind(' ');
    if (line.starts_with("#") || space == std::string::npos) continue;
    series_[line.substr(0, space)] = std::strtod(line.c_str() + space, nullptr);
  }
}

MetricsPage MetricsPage::Of(std::uint16_t port) {
  return MetricsPage(HttpGet(port, "/metrics"));
}

double MetricsPage::Value(const std::string& series) const {
  const auto found = series_.find(series);
  return found == series_.end() ? 0 : found->second;
}

double MetricsPage::Sum(const std::string& name) const {
  double sum = 0;
  for (const auto& [series, value] : series_) {
    if (series.substr(0, series.find('{')) == name) sum += value;
  }
  return sum;
}

Moved MetricsPage::Since(const MetricsPage& before, const std::string& name) const {
  Moved moved;
  for (const auto& [series, value] : series_) {
    if (series.substr(0, series.find('{')) != name) continue;
    const double change = value - before.Value(series);
    if (change != 0) moved[series.substr(name.size())] = change;
  }
  return moved;
}

MetricsPage AwaitMetrics(std::uint16_t port, const std::function<bool(const MetricsPage&)>& as_it_should_be) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  for (;;) {
    MetricsPage page = MetricsPage::Of(port);
    if (as_it_should_be(page) || std::chrono::steady_clock::now() >= end) return page;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

}  // namespace skerry::testing
