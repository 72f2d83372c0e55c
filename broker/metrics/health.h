// Whether the broker's loop turns, and whether the broker can do work: what /livez and /readyz answer.
//
//   health.Beat(now, readiness);                // the loop, each turn
//   Health::Report report = health.Live(now);   // the HTTP threads
//
// Threads: any; two atomics. Errors: none.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "broker/metrics/gauges.h"
#include "common/units.h"

namespace skerry::broker {

enum class Readiness : std::uint8_t {
  kReady,
  kStarting,
  kNoWorker,  ///< none is connected
  kNoSlot,    ///< workers are connected, and none takes jobs: they drain, or their cells do not start
  kStopping,
};

/// Of a broker that serves.
Readiness ReadinessOf(const WorkerSums& workers);

class Health {
 public:
  /// The loop sleeps a second at most and works through 512 messages at most in a turn. One that has not come
  /// round in this time is stuck.
  static constexpr Millis kStuckAfter{10'000};

  struct Report {
    enum class Verdict : bool { kBad, kGood } verdict = Verdict::kBad;
    std::string text;  ///< one line
  };

  explicit Health(TimePoint now) { Beat(now, Readiness::kStarting); }

  void Beat(TimePoint now, Readiness readiness);
  Report Live(TimePoint now) const;
  Report Ready(TimePoint now) const;

 private:
  std::atomic<SteadyClock::rep> last_beat_{0};
  std::atomic<Readiness> readiness_{Readiness::kStarting};
};

}  // namespace skerry::broker
