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
  bool was_so = false;  // it may not be any more when the loop has stopped
  std::function<void()> look = [&] {
    was_so = done();
    if (was_so || loop.Now() >= end) return loop.Stop();
    poll = loop.After(Micros(200), look);
  };
  loop.Post(look);
  loop.Run();
  return was_so;
}

inline void RunFor(EventLoop& loop, Millis time) {
  const auto stop = loop.After(time, [&] { loop.Stop(); });
  loop.Run();
}

}  // namespace skerry::agent
