// Jobs that wait for an isolate, first come, first served.
//
//   WaitingJobs jobs(loop, Millis(10'000));
//   WaitingJobs::Ticket ticket = jobs.Add([](Result<Isolate> isolate) { ... });
//   jobs.Serve(std::move(isolate));      // to the first
//
// Threads: the event loop's.
// Ownership: destroying a Ticket leaves the queue; a queue that is destroyed tells nobody. What a waiter
// calls when it is served may destroy the queue. Errors: kUnavailable to one that has waited for its time.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <utility>

#include "worker/agent/event_loop.h"
#include "worker/agent/isolates/isolate.h"

namespace skerry::agent {

class WaitingJobs {
  struct Waiter {
    std::function<void(Result<Isolate>)> ready;
    Deadlines::Handle give_up;
    bool queued = true;
    bool left = false;
  };

 public:
  using Ready = std::function<void(Result<Isolate>)>;

  /// A job's place in the queue; destroying it leaves the queue.
  class Ticket {
   public:
    Ticket() = default;
    ~Ticket() { Leave(); }
    Ticket(Ticket&& other) noexcept
        : owner_(std::exchange(other.owner_, nullptr)), waiter_(std::move(other.waiter_)) {}
    Ticket& operator=(Ticket&& other) noexcept;
    void Leave();

   private:
    friend class WaitingJobs;
    Ticket(WaitingJobs* owner, std::weak_ptr<Waiter> waiter) : owner_(owner), waiter_(std::move(waiter)) {}
    WaitingJobs* owner_ = nullptr;
    std::weak_ptr<Waiter> waiter_;
  };

  /// `max_wait`: of each job; none: for as long as it takes. `on_left`: one has left or given up.
  WaitingJobs(EventLoop& loop, std::optional<Millis> max_wait, std::function<void()> on_left = {});
  WaitingJobs(const WaitingJobs&) = delete;
  WaitingJobs& operator=(const WaitingJobs&) = delete;

  Ticket Add(Ready ready);
  /// The first is given it. There must be one.
  void Serve(Isolate isolate);
  /// All are told, in their order. Nothing of this is touched after the first has been.
  void FailAll(const Error& error);

  bool empty() const { return waiters_.empty(); }
  std::size_t size() const { return waiters_.size(); }

 private:
  void GiveUp(const std::weak_ptr<Waiter>& waiter);

  EventLoop& loop_;
  const std::optional<Millis> max_wait_;
  const std::function<void()> on_left_;
  std::list<std::shared_ptr<Waiter>> waiters_;
};

}  // namespace skerry::agent
