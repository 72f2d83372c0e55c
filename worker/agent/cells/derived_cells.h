// The pool of derived cells: one for each combination of libraries that jobs name, one for each program that
// is kept. Made on first use, kept by use within bounds, gone with their base cell.
//
//   if (auto ticket = cells.AwaitProgram(plan, [](Result<Isolate> isolate) { ... })) ...   // else run it
//   plainly; auto ticket = cells.AwaitLibraries(plan, ...);
//
//   wanted ──room there is, and its parent is asked──▶ asked ──▶ preparing ──▶ ready (derived_cell.h)
//      ▲                                                │            │            │
//      └── libraries whose cell was killed, or is old ──┴────────────┴────────────┘
//          programs: ended, their jobs are told to run from the beginning
//          libraries that fail: ended; their jobs, and those to come until they work, are told so at once
//          (broken_libraries.h)
//
// Memory: a program is evaluated on the memory of a job that waits for it, and is ended when none does. Once
// ready a cell holds what it has beyond its parent, and a little to fork with, of the bound for kept cells;
// one with libraries holds kLibraryMb while it is prepared.
//
// Two files: derived_cells.cc makes them and serves their jobs, derived_cells_ends.cc ends them.
//
// Threads: the event loop's.
// Ownership: owns the cells. Tickets must end before it does. Errors: a program that cannot be kept is no
// error, its jobs get one of any kind and run it from its beginning. Libraries: kUnavailable after max_wait,
// kInvalid where they fail.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/back_off.h"
#include "common/worker_stats.h"
#include "worker/agent/cells/broken_libraries.h"
#include "worker/agent/cells/cell_supervisor.h"
#include "worker/agent/cells/derived_cell.h"
#include "worker/agent/cells/kept_cells.h"
#include "worker/agent/cells/unkeepable.h"
#include "worker/agent/jobs/job_plan.h"
#include "worker/agent/jobs/waiting_jobs.h"

namespace skerry::agent {

class DerivedCells : private DerivedCellListener {
 public:
  /// What a ready cell may come to need for its own work.
  static constexpr Bytes kSettled = Bytes::MiB(4);

  struct Options {
    KeptCells::Bounds kept{0, 0};
    Millis max_wait{10'000};
    Millis fork_timeout{5'000};
    std::uint64_t max_forks = 10'000;
    Millis max_age{3'600'000};
    /// Of libraries whose cell was killed, and of room that there was not.
    Millis first_delay{100};
    Millis longest_delay{10'000};
    BrokenLibraries::Options broken;
    std::size_t max_unkeepable = 4096;
    Millis unkeepable_for{600'000};
    /// Where its cell was killed before it served anybody, by the kernel or an operator: it may be its
    /// memory.
    Millis killed_for{1'000};
  };

  DerivedCells(EventLoop& loop, CellSupervisor& base, ForbiddenCallWatch& forbidden_calls, WorkerStats& stats,
               Options options);
  ~DerivedCells() override;

  /// An isolate in which the plan's program is evaluated. Nothing: it is not to be kept.
  std::optional<WaitingJobs::Ticket> AwaitProgram(const JobPlan& plan, WaitingJobs::Ready ready);
  /// An isolate that has the plan's libraries. Fails where they are broken.
  Result<WaitingJobs::Ticket> AwaitLibraries(const JobPlan& plan, WaitingJobs::Ready ready);

  /// The base cell can be asked, the same or another.
  void OnBaseReady();
  /// What was asked of the base cell has come.
  void OnBaseMade(std::unique_ptr<Cell> cell);
  /// An isolate died in a way that may have shown its layout: a program's cell goes at once, one with
  /// libraries with its base cell, which is retired for it.
  void Retire(DerivedNumber cell);
  /// An isolate did not take its job.
  void NoteFailedHandOver(DerivedNumber cell);

  std::size_t cells() const { return kept_.cells(); }
  std::uint64_t memory_mb() const { return kept_.memory_mb(); }

 private:
  enum class State : std::uint8_t { kWanted, kAsked, kUp };
  struct Entry;
  using EntryPtr = std::shared_ptr<Entry>;

  void OnCellPrepared(DerivedNumber cell) override;
  void OnCellForked(DerivedNumber cell, Isolate isolate) override;
  void OnCellMade(DerivedNumber cell, std::unique_ptr<Cell> made) override;
  void OnCellHasRoom(DerivedNumber cell) override;
  void OnCellLost(DerivedNumber cell, const Error& why) override;

  EntryPtr Find(DerivedNumber number) const;
  EntryPtr FindKey(const std::string& key) const;
  EntryPtr Make(std::string key, DerivedCell::Kind kind, std::optional<Millis> max_wait);
  EntryPtr LibrariesOf(const Libraries& libraries, std::string key);
  /// The libraries of this key have failed, and not worked since.
  bool AreBroken(const std::string& key);
  /// Ends one that is old, where nobody waits for it.
  void RenewIfOld(const std::string& key);

  /// Takes it as far as it can go now: asks its parent for it, or it for isolates.
  void Advance(const EntryPtr& entry);
  bool Admit(Entry& entry);
  bool MakeRoomForProgram(const JobPlan& plan, const std::string& libraries);
  /// True: the cell that it is to be forked from has been asked.
  bool AskParent(const EntryPtr& entry);
  bool AskBase(const EntryPtr& entry);
  bool AskLibraries(const EntryPtr& entry);
  bool NoteAsked(const EntryPtr& entry, const Status& asked);
  void Adopt(std::unique_ptr<Cell> cell, std::deque<DerivedNumber>& orders, DerivedCellBirth birth,
             pid_t parent);
  void AdvanceLater(const EntryPtr& entry);
  bool Evict(const std::optional<std::vector<DerivedNumber>>& cells);
  void OnLeft(DerivedNumber number);
  void NoteUse(const Entry& entry);
  /// Programs that are not there yet.
  bool IsWantedByPrograms(const Entry& libraries) const;
  void LoseLibraries(const EntryPtr& entry, const Error& why);
  void FailLibraries(const EntryPtr& entry, const Error& why);
  void NoteLibrariesWork(const EntryPtr& entry);
  /// Those that are broken, when their time comes.
  void RetryLater();
  void Retry();
  /// Its cell goes, it is wanted still.
  void Restart(Entry& entry);
  /// It goes; whoever waits for it is told so.
  void End(const EntryPtr& entry, DerivedCellEvent event, const Error& why);
  /// Unless its cell comes before.
  void EndAfter(Millis delay, const EntryPtr& entry, Error why);

  EventLoop& loop_;
  CellSupervisor& base_;
  ForbiddenCallWatch& forbidden_calls_;
  WorkerStats& stats_;
  const Options options_;
  KeptCells kept_;
  UnkeepablePrograms unkeepable_;
  BrokenLibraries broken_;
  Deadlines::Handle retry_timer_;
  std::map<DerivedNumber, EntryPtr> entries_;
  std::unordered_map<std::string, DerivedNumber> by_key_;
  std::deque<DerivedNumber> base_orders_;  // asked of the base cell, in order
  CellNumber base_number_ = 0;             // whose those are
  DerivedNumber last_number_ = 0;
};

}  // namespace skerry::agent
