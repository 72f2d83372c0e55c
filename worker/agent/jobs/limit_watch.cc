#include "worker/agent/jobs/limit_watch.h"

#include <algorithm>
#include <chrono>

namespace skerry::agent {
namespace {

// A program that writes memory as fast as it can makes some 2 GB/s: 40 MB between two looks. RLIMIT_DATA
// stops most of it sooner.
constexpr Millis kMemoryPeriod{20};
// Over the budget by this much is a lie of the engine's own counting, not a rounding of it.
constexpr Bytes kMemorySlack = Bytes::MiB(32);
// DESIGN section 6.10: from here on it is not a short job, and shorter ones go first.
constexpr Micros kShortJob{50'000};
// The kernel's clocks tick finer than this; a nearer re-arm would only spin.
constexpr Micros kFinestCpuCheck{500};

}  // namespace

void LimitWatch::Start(TimePoint now) {
  last_check_ = now;
  deadline_ = now + Millis(limits_.timeout_ms());
  next_check_ = std::min(deadline_, now + kMemoryPeriod);
  if (limits_.cpu_ms() != kUnlimited) next_check_ = std::min(next_check_, now + Millis(limits_.cpu_ms()));
}

std::optional<Cause> LimitWatch::Check(TimePoint now, const Readings& readings) {
  GiveBackSleep(now);
  if (now >= deadline_) return Cause::kWallClock;
  if (readings.cpu) cpu_ = std::max(cpu_, *readings.cpu);
  next_check_ = std::min(deadline_, now + kMemoryPeriod);
  if (limits_.cpu_ms() != kUnlimited) {
    const Micros budget = Millis(limits_.cpu_ms());
    if (cpu_ >= budget) return Cause::kCpuClock;
    // One thread: it cannot use up what remains sooner than that.
    next_check_ = std::min(next_check_, now + std::max(budget - cpu_, kFinestCpuCheck));
  }
  if (readings.memory_growth && *readings.memory_growth > Bytes::MiB(limits_.memory_mb()) + kMemorySlack) {
    return Cause::kMemory;
  }
  return std::nullopt;
}

void LimitWatch::GiveBackSleep(TimePoint now) {
  if (now - next_check_ > kPunctual) {
    const Micros slept = std::min(std::chrono::duration_cast<Micros>(now - last_check_), may_give_back_);
    may_give_back_ -= slept;
    deadline_ += slept;
  }
  last_check_ = now;
}

bool LimitWatch::ShouldLowerPriority() {
  if (lowered_ || cpu_ < kShortJob) return false;
  lowered_ = true;
  return true;
}

}  // namespace skerry::agent
