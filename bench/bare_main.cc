// skerry-bench-bare WORKLOAD.json MILLISECONDS: the baseline's own process. Prints "<jobs> <seconds> <CPU
// seconds>".
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <deque>
#include <string>
#include <utility>

#include "bench/workload.h"
#include "common/units.h"
#include "worker/engine/bare_loop.h"

namespace skerry::bench {
namespace {

/// Answers every host call at once with the workload's answer; nobody listens to events.
class AnsweringPort : public engine::JobPort {
 public:
  explicit AnsweringPort(std::string answer) : answer_(std::move(answer)) {}

  void SendEvent(EventType, Level, std::string_view, bool) override {}
  void SendDropped(std::uint64_t) override {}
  void SendTripped(LimitId) override {}
  void SendCall(std::uint32_t call, std::string_view, std::string_view) override { calls_.push_back(call); }
  engine::HostAnswer AwaitAnswer() override {
    const std::uint32_t call = calls_.front();
    calls_.pop_front();
    if (answer_.empty()) return {call, engine::HostAnswer::Kind::kError, "this workload has no answer"};
    return {call, engine::HostAnswer::Kind::kValue, answer_};
  }

 private:
  const std::string answer_;
  std::deque<std::uint32_t> calls_;  // not answered yet
};

}  // namespace
}  // namespace skerry::bench

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
  const std::clock_t cpu_begin = std::clock();
  const skerry::TimePoint begin = skerry::SteadyClock::now();
  const skerry::TimePoint end = begin + skerry::Millis(std::atol(argv[2]));
  unsigned long jobs = 0;
  while (skerry::SteadyClock::now() < end) {
    skerry::bench::AnsweringPort port(workload->answer);
    const skerry::Outcome outcome = (*loop)->RunOne(program, port);
    if (!outcome.ok()) {
      std::fprintf(stderr, "skerry-bench-bare: the job failed: %s\n", outcome.error->message.c_str());
      return 1;
    }
    ++jobs;
  }
  std::printf("%lu %.6f %.6f\n", jobs, skerry::MillisBetween(begin, skerry::SteadyClock::now()) / 1000,
              static_cast<double>(std::clock() - cpu_begin) / CLOCKS_PER_SEC);
  return 0;
}
