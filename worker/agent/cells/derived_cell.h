// A cell that was forked from another: from when it comes out of that one until it is gone.
//
//   preparing ──its recipe is done──▶ ready: forks isolates, and cells if it has libraries only
//       │                               │
//       └── deadline, CPU, memory, forbidden call, death, "cannot be kept" ──▶ OnCellLost
//
// One that has died is asked how, which its process tells some µs after its socket: killed by somebody else,
// it says nothing about what it was to evaluate.
//
// One with a program is hostile: it is limited from outside like the job whose program it evaluates, and it
// forks only when it is asked to.
//
// Threads: the event loop's.
// Ownership: owns the cell; destroying it kills it. The listener may destroy it in any callback.
// Errors: whatever goes wrong is one OnCellLost, after which it is of no more use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "worker/agent/cells/cell.h"
#include "worker/agent/event_loop.h"
#include "worker/agent/isolates/forbidden_call_watch.h"
#include "worker/agent/isolates/isolate.h"
#include "worker/agent/jobs/limit_watch.h"

namespace skerry::agent {

class DerivedCellListener {
 public:
  virtual ~DerivedCellListener() = default;
  /// It can be asked for forks.
  virtual void OnCellPrepared(DerivedNumber cell) = 0;
  virtual void OnCellForked(DerivedNumber cell, Isolate isolate) = 0;
  virtual void OnCellMade(DerivedNumber cell, std::unique_ptr<Cell> made) = 0;
  /// Too many descriptors were on their way: ask it again.
  virtual void OnCellHasRoom(DerivedNumber cell) = 0;
  /// kInvalid: what it was to evaluate cannot be kept, or was stopped. kUnavailable: it was killed by
  /// somebody else, or the machine did not let its libraries run. Others: it has died by itself, or
  /// misbehaves.
  virtual void OnCellLost(DerivedNumber cell, const Error& why) = 0;
};

/// How one comes into the world.
struct DerivedCellBirth {
  DerivedNumber number = 0;
  CellNumber base = 0;
  std::shared_ptr<const V8Build> v8;
  /// Of the cell that it was forked from, at that time.
  MemoryReading parent;
  /// While it is prepared: wall clock, CPU, memory. Only of a program's memory_mb is the limit its isolates',
  /// too.
  Limits limits;
  enum class Kind : std::uint8_t { kLibraries, kProgram } kind = Kind::kLibraries;
};

class DerivedCell {
 public:
  using Kind = DerivedCellBirth::Kind;

  DerivedCell(EventLoop& loop, ForbiddenCallWatch& forbidden_calls, std::unique_ptr<Cell> cell,
              DerivedCellBirth birth, Millis fork_timeout, DerivedCellListener& listener);
  DerivedCell(const DerivedCell&) = delete;
  DerivedCell& operator=(const DerivedCell&) = delete;

  /// Watches it from now on. RLIMIT_DATA has been set by whoever handed it out (real_cell.h).
  void Begin();
  /// Fails where it is too much at once, and OnCellHasRoom comes; or it has ended, and OnCellLost does.
  Status RequestFork();
  /// The same; kInvalid where it never will.
  Status RequestCell(std::shared_ptr<const cell::CellRecipe> recipe);

  bool ready() const { return ready_; }
  /// Forks and cells that were asked for and have not come.
  std::size_t pending() const { return asked_.size(); }
  std::size_t pending_forks() const { return pending_forks_; }
  std::uint64_t forks() const { return forks_; }
  TimePoint since() const { return since_; }
  pid_t pid() const { return cell_->pid(); }
  const DerivedCellBirth& birth() const { return birth_; }
  /// What it has beyond its parent, in whole MiB rounded up; it takes no more from now on than this and
  /// `spare`.
  Result<std::uint64_t> Settle(Bytes spare);

 private:
  enum class Asked : std::uint8_t { kFork, kCell };

  void OnControlReadable();
  void OnReady();
  void TakeForked(Forked forked);
  void CheckLimits();
  void ArmForkTimeout();
  Status Note(Asked what, const Status& status);
  void LoseOverLimit(Cause cause);
  /// Its control socket tells of its end, which its exit explains.
  void AwaitEnd(std::string why);
  void OnEnd(const std::string& why);
  void Lose(ErrorKind kind, std::string why);
  bool is_program() const { return birth_.kind == Kind::kProgram; }

  EventLoop& loop_;
  const DerivedCellBirth birth_;
  const Millis fork_timeout_;
  DerivedCellListener& listener_;
  std::unique_ptr<Cell> cell_;
  EventLoop::Watch watch_;  // after the cell: destroyed before its descriptor closes
  ForbiddenCallWatch& forbidden_calls_;
  ForbiddenCallWatch::Registration registration_;
  LimitWatch limits_;
  TimePoint since_{};
  bool ready_ = false;
  bool ending_ = false;
  EventLoop::Watch end_watch_;
  std::deque<Asked> asked_;
  std::size_t pending_forks_ = 0;
  std::uint64_t forks_ = 0;
  Deadlines::Handle timer_;  // limits while it is prepared, then forks; its exit in the end
  Deadlines::Handle again_timer_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // for callbacks that may destroy this
};

}  // namespace skerry::agent
