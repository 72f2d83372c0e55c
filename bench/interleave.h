// Runs what is compared in turns, A B A B …, so that a noisy machine disturbs all alike.
//
//   auto measured = Interleave({stack, bare}, plan.rounds, progress);
//   MedianRatio((*measured)[0], (*measured)[1]);
//
// Threads: the caller's. Errors: the first side that fails ends it, named.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/progress.h"
#include "common/result.h"

namespace skerry::bench {

/// One of the things compared.
struct Side {
  std::string name;
  std::function<Result<double>()> measure;  ///< one stretch; its figure
};

/// Figures by side, then by round.
using Measured = std::vector<std::vector<double>>;

Result<Measured> Interleave(const std::vector<Side>& sides, int rounds, Progress& progress);

}  // namespace skerry::bench
