#include "broker/metrics/health.h"

#include <string_view>

namespace skerry::broker {
namespace {

using Verdict = Health::Report::Verdict;

std::string_view WhyNot(Readiness readiness) {
  switch (readiness) {
    case Readiness::kReady:
      return "ok";
    case Readiness::kStarting:
      return "starting";
    case Readiness::kNoWorker:
      return "no worker is connected";
    case Readiness::kNoSlot:
      return "no worker takes jobs: all of them drain, or their cells do not start";
    case Readiness::kStopping:
      break;
  }
  return "stopping";
}

}  // namespace

Readiness ReadinessOf(const WorkerSums& workers) {
  if (workers.workers == 0) return Readiness::kNoWorker;
  return workers.accepting == 0 ? Readiness::kNoSlot : Readiness::kReady;
}

void Health::Beat(TimePoint now, Readiness readiness) {
  last_beat_.store(now.time_since_epoch().count(), std::memory_order_relaxed);
  readiness_.store(readiness, std::memory_order_relaxed);
}

Health::Report Health::Live(TimePoint now) const {
  const TimePoint last{SteadyClock::duration(last_beat_.load(std::memory_order_relaxed))};
  if (now - last < kStuckAfter) return {Verdict::kGood, "ok"};
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - last).count();
  return {Verdict::kBad, "the broker's loop has not turned for " + std::to_string(seconds) + " s"};
}

Health::Report Health::Ready(TimePoint now) const {
  if (Report live = Live(now); live.verdict == Verdict::kBad) return live;
  const Readiness readiness = readiness_.load(std::memory_order_relaxed);
  return {readiness == Readiness::kReady ? Verdict::kGood : Verdict::kBad, std::string(WhyNot(readiness))};
}

}  // namespace skerry::broker
