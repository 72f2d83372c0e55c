#include "clients/cli/interrupt.h"

#include <poll.h>

#include <atomic>
#include <chrono>
#include <csignal>

namespace skerry::cli {
namespace {

std::atomic<int> interrupts{0};
static_assert(std::atomic<int>::is_always_lock_free, "touched by a signal handler");

void CountInterrupt(int) {
  interrupts.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

void CatchInterrupts() {
  struct sigaction action {};
  action.sa_handler = CountInterrupt;
  sigemptyset(&action.sa_mask);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaction(number, &action, nullptr);
  signal(SIGPIPE, SIG_IGN);
}

int Interrupts() {
  return interrupts.load(std::memory_order_relaxed);
}

bool InterruptedWithin(Millis time) {
  const TimePoint until = SteadyClock::now() + time;
  while (Interrupts() == 0) {
    const auto left = std::chrono::ceil<Millis>(until - SteadyClock::now());
    if (left <= Millis(0)) return false;
    poll(nullptr, 0, static_cast<int>(left.count()));  // unlike sleep_for, it ends with a signal
  }
  return true;
}

}  // namespace skerry::cli
