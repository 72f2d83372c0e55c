// skerry-bench-bare WORKLOAD.json MILLISECONDS: the baseline's own process. Prints "<jobs> <seconds>".
#include <cstdio>
#include <cstdlib>

#include "bench/workload.h"
#include "common/units.h"
#include "worker/engine/bare_loop.h"

int SkerryMain(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: skerry-bench-bare WORKLOAD.json MILLISECONDS\n");
    return 2;
  }
  const auto workload = skerry::bench::LoadWorkload(argv[1]);
  if (!workload) {
    std::fprintf(stderr, "skerry-bench-bare: %s\n", workload.error().message.c_str());
    return 1;
  }
  auto loop = skerry::engine::BareLoop::Start({});
  if (!loop) {
    std::fprintf(stderr, "skerry-bench-bare: %s\n", loop.error().message.c_str());
    return 1;
  }
  skerry::engine::Program program;
  program.code = workload->code;
  program.input = workload->input;
  const skerry::TimePoint begin = skerry::SteadyClock::now();
  const skerry::TimePoint end = begin + skerry::Millis(std::atol(argv[2]));
  unsigned long jobs = 0;
  while (skerry::SteadyClock::now() < end) {
    const skerry::Outcome outcome = (*loop)->RunOne(program);
    if (!outcome.ok()) {
      std::fprintf(stderr, "skerry-bench-bare: the job failed: %s\n", outcome.error->message.c_str());
      return 1;
    }
    ++jobs;
  }
  std::printf("%lu %.6f\n", jobs, skerry::MillisBetween(begin, skerry::SteadyClock::now()) / 1000);
  return 0;
}
