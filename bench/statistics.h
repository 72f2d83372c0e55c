// Medians and percentiles of what was measured.
//
// Threads: pure. Errors: none; of no values the answer is 0.
#pragma once

#include <vector>

namespace skerry::bench {

/// The middle value; of an even number of them the mean of the two in the middle.
double Median(std::vector<double> values);

/// The smallest value that at least `fraction` of all do not exceed (nearest rank). Range of fraction: 0 to
/// 1.
double Percentile(std::vector<double> values, double fraction);

/// The median of values[i] / baseline[i]: each ratio is of two stretches that were measured one after the
/// other, so that what disturbs the machine disturbs both. Rounds whose baseline is 0 are left out.
double MedianRatio(const std::vector<double>& values, const std::vector<double>& baseline);

}  // namespace skerry::bench
