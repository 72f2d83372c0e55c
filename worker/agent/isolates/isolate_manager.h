// Isolates for jobs: at most maxConcurrentIsolates leases, at most maxSpares forked ahead of need, and never
// more memory promised than the worker has.
//
//   Result<Lease> lease = manager.Acquire(job.memory_mb);          // "IsolateManager at capacity (4)"
//   if (auto isolate = manager.TakeSpare()) run(*isolate);
//   else ticket = manager.Await([](Result<Isolate> isolate) { ... });
//
// Memory: workerMemoryMb = two for each cell (a renewal has both for a moment) + maxSpares idle isolates +
// derived cells + the leases' budgets. All but the last are set aside once, so a spare never has to be
// refused and the credit given to the broker is constant.
//
// Threads: the event loop's.
// Ownership: owns the spares. Leases and tickets must end before it does. A Lease is held until its isolate
// is reaped. Errors: kExhausted past a bound; kUnavailable when no cell could fork within the waiting time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>

#include "common/worker_stats.h"
#include "worker/agent/cells/base_cells.h"
#include "worker/agent/cells/derived_cells.h"
#include "worker/agent/event_loop.h"
#include "worker/agent/isolates/forbidden_call_watch.h"
#include "worker/agent/isolates/isolate.h"
#include "worker/agent/isolates/isolate_keeper.h"
#include "worker/agent/isolates/oom_kills.h"
#include "worker/agent/jobs/waiting_jobs.h"
#include "worker/agent/link/lease_ledger.h"

namespace skerry::agent {

class IsolateManager : private CellListener {
 public:
  /// What a cell and an idle isolate take at most [M]: V8, its warmed heap and code.
  static constexpr std::uint64_t kCellMb = 64;
  static constexpr std::uint64_t kSpareMb = 8;

  struct Options {
    std::size_t max_concurrent_isolates = 4;
    std::size_t max_spares = 4;
    /// Base cells; more than one where one does not fork fast enough.
    std::size_t max_cells = 1;
    ForkPressure::Options pressure;
    std::uint64_t worker_memory_mb = 1024;
    /// Their memory is part of workerMemoryMb.
    DerivedCells::Options derived;
    /// How long a job may wait for a fork before it is LOST.
    Millis max_wait{10'000};
    /// Where /proc and /sys are, for tests.
    std::filesystem::path machine_root = "/";
    CellSupervisor::Options cells;

    std::uint64_t ReservedMb() const {
      return 2 * max_cells * kCellMb + max_spares * kSpareMb + derived.kept.memory_mb;
    }
    /// Left for jobs: the credit given to the broker.
    std::uint64_t JobsMb() const {
      return worker_memory_mb > ReservedMb() ? worker_memory_mb - ReservedMb() : 0;
    }
  };

  using Ticket = WaitingJobs::Ticket;

  IsolateManager(EventLoop& loop, CellFactory factory, Options options);
  ~IsolateManager() override = default;

  /// Starts the first cell and the spares. `done` is told how that went.
  void Start(std::function<void(Status)> done);
  Result<Lease> Acquire(std::uint64_t memory_mb) { return ledger_.Acquire(memory_mb); }
  std::optional<Isolate> TakeSpare();
  Ticket Await(WaitingJobs::Ready ready);
  /// Isolates that have libraries, or a program evaluated.
  DerivedCells& derived() { return derived_; }
  /// Isolates that wait for another job of their tenant.
  IsolateKeeper& keeper() { return keeper_; }
  /// Lets those go for which leases have left no memory. Call it where leases have changed.
  void FitKept() { keeper_.FitInto(ledger_.memory_mb() - ledger_.used_memory_mb()); }
  void NoteHandOver(CellNumber cell, HandOver result) { cells_.NoteHandOver(cell, result); }
  /// The isolate died in a way that may have shown its cell's layout.
  void Retire(CellNumber cell) { cells_.Retire(cell, CellRestart::kCrash); }
  /// Whom to tell when the job's process makes a forbidden system call.
  ForbiddenCallWatch& forbidden_calls() { return forbidden_calls_; }
  /// Explains a SIGKILL that an isolate got and nobody here sent.
  OomKills& oom_kills() { return oom_kills_; }
  OomCounter::Of oom_counter() const { return oom_kills_.counted_by(); }
  /// No more forks ahead of need, and no new cells unless a job waits for one: the worker is draining.
  void StopSpares();
  /// Told when forks can (not) be hoped for.
  void set_on_health(std::function<void(bool)> hook) { on_health_ = std::move(hook); }

  /// What is counted about isolates and cells; jobs count their isolates' ends here.
  WorkerStats& stats() { return stats_; }
  /// The counts, and how many spares and cells there are now.
  WorkerStats Figures() const;
  const std::string& v8_version() const { return cells_.first().v8_version(); }
  SandboxLevel sandbox_level() const { return cells_.first().sandbox_level(); }
  const LeaseLedger& ledger() const { return ledger_; }
  std::size_t spares() const { return spares_.size(); }
  std::size_t waiting() const { return jobs_.size(); }
  std::size_t pending_forks() const { return cells_.pending(); }

 private:
  struct Spare {
    explicit Spare(Isolate isolate) : isolate(std::move(isolate)) {}
    Isolate isolate;
    EventLoop::Watch watch;  // of its exit; after the isolate
  };
  using Spares = std::list<Spare>;

  void OnForked(Isolate isolate) override;
  void OnCellMade(std::unique_ptr<Cell> cell) override { derived_.OnBaseMade(std::move(cell)); }
  void OnCellReady() override;
  void OnCellLost() override { Refill(); }
  void OnCellRetired(CellNumber cell) override;
  void OnForbiddenCalls(std::unique_ptr<ForbiddenCalls> reports) override {
    forbidden_calls_.Add(std::move(reports));
  }
  void OnCellHealth(bool healthy) override;

  void AddSpare(Isolate isolate);
  /// Of the OOM killer's count, an idle isolate's death takes its part.
  void CountIdleDeath(const ExitStatus& status);
  void OnSpareDied(Spares::iterator spare);
  /// Asks for as many forks as waiting jobs and missing spares need.
  void Refill();

  EventLoop& loop_;
  const Options options_;
  LeaseLedger ledger_;
  WorkerStats stats_;
  ForbiddenCallWatch forbidden_calls_;
  OomKills oom_kills_;
  IsolateKeeper keeper_;
  Spares spares_;  // oldest first
  WaitingJobs jobs_;
  std::size_t wanted_spares_;
  std::function<void(bool)> on_health_;
  BaseCells cells_;       // it calls back into all but itself
  DerivedCells derived_;  // last: it asks that
};

}  // namespace skerry::agent
