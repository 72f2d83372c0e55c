// Isolates whose job has ended well and that wait for another of the same tenant (`reuse: "context"`,
// decision 16).
//
//   keeper.Keep(isolate, key)    preparing ──CREDIT──▶ ready ──Take──▶ runs a job
//                                    │                   │
//                                    └── late, says anything else, too much left in it, its cell retired, one
//                                    too
//                                        many, idle for kIdleTime, no memory for it ──▶ killed and reaped
//
// A job that finds none ready may Await one that is being prepared: some 0.4 ms, where a fork costs more.
//
// Threads: the event loop's. Ownership: owns what it keeps; tickets must end before it does. Errors: none; an
// isolate that fails here is gone, and who awaited it is told so.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "common/worker_stats.h"
#include "worker/agent/event_loop.h"
#include "worker/agent/isolates/isolate.h"
#include "worker/agent/isolates/isolate_port.h"
#include "worker/agent/jobs/job_plan.h"

namespace skerry::agent {

/// What jobs must have in common to run in one isolate; nothing: this one has its own.
std::optional<std::string> ReuseKey(const JobPlan& plan);

class IsolateKeeper {
  struct Kept;
  using Ready = std::function<void(std::optional<Isolate>)>;

 public:
  /// Jobs of one isolate. What is made once in its life (a fork, the copying of pages) is small beside so
  /// many.
  static constexpr std::uint32_t kMaxJobs = 100;
  /// How long one waits for its next job: batches come without pauses.
  static constexpr Millis kIdleTime{5'000};
  /// A full collection and a new context take a few ms.
  static constexpr Millis kPrepareTime{1'000};
  /// What earlier jobs may have left, resident or mapped, above what there was before the first. The engine
  /// collects at 8 MiB of heap, and V8 and libc keep some free pages.
  static constexpr Bytes kMaxLeftovers = Bytes::MiB(16);
  /// What one holds at most: what a spare has (IsolateManager::kSpareMb), and the above.
  static constexpr std::uint64_t kKeptMb = 8 + 16;

  /// A job's place behind an isolate that is being prepared; destroying it gives it up.
  class Ticket {
   public:
    Ticket() = default;
    ~Ticket() { Leave(); }
    Ticket(Ticket&& other) noexcept : place_(std::move(other.place_)) {}
    Ticket& operator=(Ticket&& other) noexcept;
    void Leave();
    bool waits() const { return place_ != nullptr && *place_ != nullptr; }

   private:
    friend class IsolateKeeper;
    explicit Ticket(std::shared_ptr<Ready> place) : place_(std::move(place)) {}
    std::shared_ptr<Ready> place_;  // holds nothing once it is left or told
  };

  /// `on_idle_death`: of one that ended by itself.
  IsolateKeeper(EventLoop& loop, WorkerStats& stats, std::size_t max_kept,
                std::function<void(const ExitStatus&)> on_idle_death);
  IsolateKeeper(const IsolateKeeper&) = delete;
  IsolateKeeper& operator=(const IsolateKeeper&) = delete;

  /// It has just sent its final. The oldest goes where there are too many.
  /// `port` has what it may have sent since.
  void Keep(Isolate isolate, IsolatePort port, std::string key);
  /// One that is ready, the last used first: the others can be let go.
  std::optional<Isolate> Take(const std::string& key);
  /// Behind one that is being prepared and that nobody awaits. `ready` is told once, unless the ticket is
  /// left.
  Ticket Await(const std::string& key, Ready ready);
  /// Keeps no more than have room in this, the oldest go first.
  void FitInto(std::uint64_t memory_mb);
  void Drop(CellNumber cell);
  /// Keeps none from now on.
  void Stop();

  std::size_t size() const { return kept_.size(); }

 private:
  struct Kept {
    Kept(Isolate taken, IsolatePort its_port, std::string its_key)
        : isolate(std::move(taken)), key(std::move(its_key)), port(std::move(its_port)) {}
    Isolate isolate;
    std::string key;
    IsolatePort port;
    bool ready = false;
    std::shared_ptr<Ready> awaited;  // null, or empty: by nobody
    EventLoop::Watch socket_watch;   // after the isolate
    EventLoop::Watch exit_watch;
    Deadlines::Handle timer;
    bool IsAwaited() const { return awaited && *awaited; }
  };
  using All = std::list<Kept>;

  void OnReadable(All::iterator kept);
  void OnExit(All::iterator kept);
  void AwaitEnd(All::iterator kept);
  void BecomeReady(All::iterator kept);
  /// Out of the list, with nothing watching it.
  Isolate Release(All::iterator kept);
  /// Ends it; tells who awaits it.
  void Discard(All::iterator kept, IsolateExit as);
  void LimitTo(std::size_t count);

  EventLoop& loop_;
  WorkerStats& stats_;
  std::size_t max_kept_;
  const std::function<void(const ExitStatus&)> on_idle_death_;
  All kept_;  // oldest first
};

}  // namespace skerry::agent
