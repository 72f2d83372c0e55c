#include "worker/agent/cells/fork_pressure.h"

#include <utility>

namespace skerry::agent {

bool ForkPressure::Note(std::size_t jobs_waiting, std::size_t pending, TimePoint now) {
  if (now - window_ >= options_.window) {
    const bool in_a_row = now - window_ < 2 * options_.window;
    const bool full = asked_ >= options_.least_forks && queued_ * 5 >= asked_ * 4;
    full_windows_ = full && in_a_row ? full_windows_ + 1 : 0;
    window_ = now;
    asked_ = queued_ = 0;
  }
  ++asked_;
  queued_ += jobs_waiting > 0 && pending >= kQueued;
  if (full_windows_ < kWindows) return false;
  full_windows_ = 0;
  return true;
}

}  // namespace skerry::agent
