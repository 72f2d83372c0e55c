#include "bench/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace skerry::bench {

double Median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double Percentile(std::vector<double> values, double fraction) {
  if (values.empty()) return 0;
  const double rank = std::ceil(fraction * static_cast<double>(values.size()));
  const auto index = static_cast<std::size_t>(std::max(rank, 1.0)) - 1;
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(std::min(index, values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

double MedianRatio(const std::vector<double>& values, const std::vector<double>& baseline) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < std::min(values.size(), baseline.size()); ++i) {
    if (baseline[i] > 0) ratios.push_back(values[i] / baseline[i]);
  }
  return Median(std::move(ratios));
}

}  // namespace skerry::bench
