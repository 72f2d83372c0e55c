// Keeps one cell running: starts it, restarts one that dies (with back-off), renews it by age and by forks
// without a pause, and retires one whose layout a crash may have shown.
//
//   no cell ──start──▶ starting ──ok──▶ running ──died──▶ no cell (after a delay)
//                          ▲                │ old, or crashed into
//                          └── replacement ─┘  the old one serves until the new one is ready
//
// Threads: the event loop's; starts happen in CellStarter's thread.
// Ownership: owns the cell. The counts and the listener outlive it; the listener may call RequestForks from
// any callback. Errors: none leave it; they are logged, counted and waited out. IsHealthy says whether a fork
// can be hoped for: not after three failures in a row, until a fork has come.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "common/back_off.h"
#include "common/worker_stats.h"
#include "worker/agent/cells/cell_starter.h"
#include "worker/agent/event_loop.h"
#include "worker/agent/isolates/isolate.h"

namespace skerry::agent {

class CellListener {
 public:
  virtual ~CellListener() = default;
  virtual void OnForked(Isolate isolate) = 0;
  /// What RequestCell asked for, in the order in which it was asked.
  virtual void OnCellMade(std::unique_ptr<Cell> cell) = 0;
  /// A cell can be asked for forks. Those asked of an earlier one and not delivered will not come.
  virtual void OnCellReady() = 0;
  /// A cell is gone, and what was asked of it with it. Another is started in a while.
  virtual void OnCellLost() = 0;
  /// What was forked from this cell and is idle must not be used any more.
  virtual void OnCellRetired(CellNumber cell) = 0;
  /// Of a cell that has just started.
  virtual void OnForbiddenCalls(std::unique_ptr<ForbiddenCalls> reports) = 0;
  /// IsHealthy has changed.
  virtual void OnCellHealth(bool healthy) = 0;
};

/// Whether an isolate took the job that it was given. A cell whose isolates keep failing to is replaced.
enum class HandOver : bool { kFailed, kWorked };

/// The cell that forks now.
struct RunningCell {
  CellNumber number = 0;
  std::unique_ptr<Cell> cell;
  std::shared_ptr<const V8Build> v8;
  EventLoop::Watch watch;  // after the cell: destroyed before its descriptor closes
  TimePoint since{};
  std::uint64_t forks = 0;
  enum class What : std::uint8_t { kFork, kCell };
  struct Asked {
    TimePoint at;
    What what;
  };
  std::deque<Asked> asked;  ///< and not come yet
  std::size_t pending_forks = 0;
  int useless = 0;  ///< of its isolates, so many in a row died idle or did not take their job
};

/// The same as others see it.
struct BaseCell {
  CellNumber number = 0;
  pid_t pid = -1;
  std::shared_ptr<const V8Build> v8;
  bool keeps_programs = false;
};

class CellSupervisor {
 public:
  struct Options {
    Millis first_delay{100};
    Millis longest_delay{10'000};
    /// Forks share hash seeds, canaries and layout (DESIGN section 6.2): a new cell draws new ones.
    std::uint64_t max_forks = 10'000;
    Millis max_age{3'600'000};
    /// A fork takes below a millisecond; a cell that is this late hangs.
    Millis fork_timeout{5'000};
    /// Retirements for crashes come no closer than this, so that crashing programs cannot keep a core busy
    /// with starts.
    Millis retire_interval{1'000};
    /// Its cells are numbered from here, in steps: see BaseCells.
    CellNumber first_number = 1;
    CellNumber number_step = 1;
  };

  CellSupervisor(EventLoop& loop, CellFactory factory, CellListener& listener, WorkerStats& stats,
                 Options options);

  /// Starts the first cell. `done` is told how that went, and its failure is the caller's to act on; where
  /// there is none, it is tried again like any later start.
  void Start(std::function<void(Status)> done);
  /// Asks for `count` isolates; as many as are asked for before a cell is ready are asked again by the
  /// listener.
  void RequestForks(std::size_t count);
  /// Asks for a cell that is forked from the running one; it is not to be retried where it fails but for
  /// kExhausted.
  Status RequestCell(std::shared_ptr<const cell::CellRecipe> recipe);
  /// Isolates asked for, not yet delivered.
  std::size_t pending() const { return running_ ? running_->pending_forks : 0; }
  std::optional<BaseCell> running() const;
  bool ready() const { return running_.has_value(); }
  bool IsHealthy() const { return healthy_; }
  /// It goes as soon as its successor is ready.
  bool retiring() const { return retiring_.has_value(); }
  /// The cell's layout may be known (kCrash), or its isolates are no good (kUseless): replace it. Nothing
  /// happens when it is another one by now.
  void Retire(CellNumber cell, CellRestart reason);
  /// What became of one of its isolates. True: it was one failure too many, and the cell is to be replaced.
  /// Nothing happens when it is another one by now.
  bool NoteHandOver(CellNumber cell, HandOver result);
  /// Of the last cell that started; empty before.
  const std::string& v8_version() const { return v8_version_; }
  /// The same; kNone before.
  SandboxLevel sandbox_level() const { return sandbox_level_; }
  /// No more starts.
  void Stop();

 private:
  void BeginStart();
  void OnStarted(Result<std::unique_ptr<Cell>> started);
  void OnControlReadable();
  void TakeForked(Forked forked);
  void NoteAsked(RunningCell::What what);
  void OnCellLost(CellRestart reason, const std::string& why);
  void StartLater();
  void StartAt(TimePoint when);
  void RenewIfOld();
  void AskAgainLater();
  void ArmForkTimeout();
  void SetHealthy(bool healthy);

  EventLoop& loop_;
  CellListener& listener_;
  WorkerStats& stats_;
  const Options options_;
  CellStarter starter_;
  std::optional<RunningCell> running_;
  std::optional<CellNumber> retiring_;  // the running one, told to go when its successor is ready
  bool starting_ = false;
  bool start_scheduled_ = false;
  bool stopped_ = false;
  bool healthy_ = true;
  CellNumber next_number_;
  std::string v8_version_;
  SandboxLevel sandbox_level_ = SandboxLevel::kNone;
  BackOff back_off_;
  Deadlines::Handle start_timer_;
  Deadlines::Handle fork_timer_;
  Deadlines::Handle ask_again_timer_;
  Deadlines::Handle age_timer_;
  std::function<void(Status)> first_start_;
};

}  // namespace skerry::agent
