// Runs an event loop in a test until something is so.
#pragma once

#include <functional>

#include "common/units.h"
#include "worker/agent/event_loop.h"

namespace skerry::agent {

/// True when `done` became true in time.
inline bool RunUntil(EventLoop& loop, const std::function<bool()>& done, Millis limit = Millis(10'000)) {
  const TimePoint end = loop.Now() + limit;
  Deadlines::Handle poll;
  std::function<void()> look = [&] {
    if (done() || loop.Now() >= end) return loop.Stop();
    poll = loop.After(Micros(200), look);
  };
  loop.Post(look);
  loop.Run();
  return done();
}

inline void RunFor(EventLoop& loop, Millis time) {
  const auto stop = loop.After(time, [&] { loop.Stop(); });
  loop.Run();
}

}  // namespace skerry::agent
