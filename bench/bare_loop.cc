#include "bench/bare_loop.h"

#include <cstdio>
#include <memory>
#include <vector>

namespace skerry::bench {
namespace {

struct ClosePipe {
  void operator()(std::FILE* pipe) const { pclose(pipe); }
};
using Pipe = std::unique_ptr<std::FILE, ClosePipe>;

}  // namespace

Result<double> RunBareLoops(const BareOptions& options) {
  const std::string command =
      "'" + options.program + "' '" + options.workload_path + "' " + std::to_string(options.duration.count());
  std::vector<Pipe> children;
  for (unsigned i = 0; i < options.processes; ++i) children.emplace_back(popen(command.c_str(), "r"));
  double jobs_per_second = 0;
  for (const Pipe& child : children) {
    unsigned long jobs = 0;
    double seconds = 0;
    if (!child || std::fscanf(child.get(), "%lu %lf", &jobs, &seconds) != 2 || seconds <= 0) {
      return Fail(ErrorKind::kInternal, "the bare loop failed: " + command);
    }
    jobs_per_second += static_cast<double>(jobs) / seconds;
  }
  return jobs_per_second;
}

}  // namespace skerry::bench
