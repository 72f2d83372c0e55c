// One measured comparison, as a table row for people or an object a line for programs.
#pragma once

#include <string>

#include "bench/sample.h"

namespace skerry::bench {

struct Comparison {
  std::string workload;
  Sample loaded;  ///< through the stack, all slots busy
  Sample idle;    ///< through the stack, one job at a time
  double bare_jobs_per_second = 0;

  double Ratio() const {
    return bare_jobs_per_second > 0 ? loaded.JobsPerSecond() / bare_jobs_per_second : 0;
  }
};

std::string TableHead();
std::string TableRow(const Comparison& comparison);
std::string JsonLine(const Comparison& comparison);

}  // namespace skerry::bench
