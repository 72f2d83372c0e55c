// The worker's one event loop: descriptors, timers, signals. Asio is behind this header and nowhere else.
//
//   EventLoop loop;
//   EventLoop::Watch watch = loop.OnReadable(fd, [&] { ... });   // again and again while readable, until
//   destroyed loop.Run();
//
// Threads: everything from the thread that calls Run, except Post.
// Ownership: a Watch borrows its descriptor; destroy it before the descriptor is closed. A callback may
// destroy its own Watch. Errors: failing to register a descriptor is a bug or an exhausted machine; it throws
// std::system_error.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "common/units.h"
#include "worker/agent/jobs/deadlines.h"

namespace skerry::agent {

class EventLoop {
  struct Impl;

 public:
  class Watch {
   public:
    Watch() = default;
    ~Watch() { Reset(); }
    Watch(Watch&&) noexcept = default;
    Watch& operator=(Watch&& other) noexcept;
    void Reset();
    /// Runs `callback` once, when the same descriptor can be written to. Replaces one that still waits.
    void OnceWritable(std::function<void()> callback);
    explicit operator bool() const { return state_ != nullptr; }

   private:
    friend class EventLoop;
    struct State;
    std::shared_ptr<State> state_;
  };

  EventLoop();
  ~EventLoop();

  [[nodiscard]] Watch OnReadable(int fd, std::function<void()> callback);
  /// Runs `callback` with each signal of the set that arrives, for as long as the loop lives.
  void OnSignals(const std::vector<int>& signals, std::function<void(int)> callback);
  /// Runs `task` in the loop, after the current callback. From any thread.
  void Post(std::function<void()> task);

  Deadlines& deadlines() { return deadlines_; }
  TimePoint Now() const { return SteadyClock::now(); }
  [[nodiscard]] Deadlines::Handle After(SteadyClock::duration delay, std::function<void()> action) {
    return deadlines_.At(Now() + delay, std::move(action));
  }

  /// Returns after Stop.
  void Run();
  void Stop();

 private:
  Deadlines deadlines_;
  std::unique_ptr<Impl> impl_;
};

}  // namespace skerry::agent
