// Things to do at a time: a queue ordered by instant, with handles that cancel themselves.
//
//   Deadlines deadlines;
//   Deadlines::Handle kill = deadlines.At(now + Millis(30), [&] { ... });
//   deadlines.RunDue(now);
//
// Threads: one owner. It never reads a clock: the event loop passes the time in, and tests a time of their
// own. Ownership: a Handle that is destroyed or reassigned cancels its entry; handles must not outlive the
// queue. Errors: none.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "common/units.h"

namespace skerry::agent {

class Deadlines {
  using Key = std::pair<TimePoint, std::uint64_t>;

 public:
  class Handle {
   public:
    Handle() = default;
    ~Handle() { Cancel(); }
    Handle(Handle&& other) noexcept : owner_(std::exchange(other.owner_, nullptr)), key_(other.key_) {}
    Handle& operator=(Handle&& other) noexcept;
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;

    void Cancel();

   private:
    friend class Deadlines;
    Handle(Deadlines* owner, Key key) : owner_(owner), key_(key) {}
    Deadlines* owner_ = nullptr;
    Key key_{};
  };

  /// Runs `action` once, at the first RunDue whose time is `when` or later; those of one instant in order of
  /// arming.
  Handle At(TimePoint when, std::function<void()> action);
  std::optional<TimePoint> Next() const;
  /// Runs what is due. An action may arm and cancel others; what it arms for `now` or earlier runs in this
  /// call too.
  void RunDue(TimePoint now);
  std::size_t size() const { return entries_.size(); }
  /// Called when an entry becomes the earliest, so that whoever sleeps until Next() can wake sooner.
  void set_on_earlier(std::function<void(TimePoint)> hook) { on_earlier_ = std::move(hook); }

 private:
  std::map<Key, std::function<void()>> entries_;
  std::uint64_t sequence_ = 0;
  std::function<void(TimePoint)> on_earlier_;
};

}  // namespace skerry::agent
