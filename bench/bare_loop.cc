#include "bench/bare_loop.h"

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "bench/statistics.h"

namespace skerry::bench {
namespace {

struct ClosePipe {
  void operator()(std::FILE* pipe) const { pclose(pipe); }
};
using Pipe = std::unique_ptr<std::FILE, ClosePipe>;

}  // namespace

Result<BareFigures> RunBareLoops(const Setting& setting, const Workload& workload) {
  const std::string command = "'" + setting.binaries + "/skerry-bench-bare' '" + workload.path + "' " +
                              std::to_string(setting.plan.stretch.count());
  std::vector<Pipe> children;
  for (unsigned i = 0; i < setting.cores; ++i) children.emplace_back(popen(command.c_str(), "r"));
  BareFigures figures;
  double all_jobs = 0;
  for (const Pipe& child : children) {
    unsigned long jobs = 0;
    double seconds = 0;
    double cpu_seconds = 0;
    if (!child || std::fscanf(child.get(), "%lu %lf %lf", &jobs, &seconds, &cpu_seconds) != 3 || jobs == 0) {
      return Fail(ErrorKind::kInternal, "the bare loop failed: " + command);
    }
    figures.jobs_per_second += static_cast<double>(jobs) / seconds;
    figures.cpu_us_per_job += cpu_seconds * 1e6;
    all_jobs += static_cast<double>(jobs);
  }
  figures.cpu_us_per_job /= all_jobs;
  return figures;
}

Status CompareWithBare(const Setting& setting, const Workload& workload,
                       const std::function<Result<Sample>(Millis)>& load) {
  if (auto warm = load(setting.plan.warm_up); !warm) return Fail(warm.error());
  Sample all;
  const Side ours = {workload.name, [&]() -> Result<double> {
                       auto sample = load(setting.plan.stretch);
                       if (!sample) return Fail(sample.error());
                       all.Add(*sample);
                       return sample->JobsPerSecond();
                     }};
  const Side bare = {workload.name + " bare", [&]() -> Result<double> {
                       const auto figures = RunBareLoops(setting, workload);
                       if (!figures) return Fail(figures.error());
                       return figures->jobs_per_second;
                     }};
  const auto measured = Interleave({ours, bare}, setting.plan.rounds, *setting.progress);
  if (!measured) return Fail(measured.error());
  setting.progress->Clear();
  setting.report->Add(Row()
                          .Text("workload", workload.name)
                          .Number("jobsPerSecond", Median((*measured)[0]), 0)
                          .Number("p50Ms", all.LatencyMs(0.5), 2)
                          .Number("p99Ms", all.LatencyMs(0.99), 2)
                          .Text("baseline", "bare")
                          .Number("baselineJobsPerSecond", Median((*measured)[1]), 0)
                          .Number("ratio", MedianRatio((*measured)[0], (*measured)[1]), 2));
  return {};
}

void NoteOnBare(const Setting& setting) {
  setting.report->Note("ratio: jobs/s over those of " + std::to_string(setting.cores) +
                       " loops of fresh isolates (no limits, no containment)");
}

}  // namespace skerry::bench
