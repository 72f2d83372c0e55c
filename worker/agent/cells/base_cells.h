// The base cells of a worker: one, and more where one cannot fork fast enough (fork_pressure.h).
//
// Each is started, renewed, judged and retired by itself (cell_supervisor.h). Forks are asked of the ready
// one that has the fewest to make, rather of one that is not about to go. Derived cells come from the first.
//
// Threads: the event loop's.
// Ownership: owns the supervisors. The counts and the listener outlive it. Errors: the first cell's failure
// to start is the caller's to act on; a further one that does not start is tried again like one that died.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "worker/agent/cells/cell_supervisor.h"
#include "worker/agent/cells/fork_pressure.h"

namespace skerry::agent {

class BaseCells : private CellListener {
 public:
  /// `most`: at least 1. Their numbers are unique: each counts in steps of it.
  BaseCells(EventLoop& loop, CellFactory factory, CellListener& listener, WorkerStats& stats,
            CellSupervisor::Options options, std::size_t most, ForkPressure::Options pressure = {});

  void Start(std::function<void(Status)> done);
  /// `jobs_waiting`: how many jobs wait for a fork.
  void RequestForks(std::size_t count, std::size_t jobs_waiting);
  /// Isolates asked for, not yet delivered.
  std::size_t pending() const;
  /// Cells that can fork.
  std::size_t ready() const;
  void Retire(CellNumber cell, CellRestart reason);
  /// As CellSupervisor's.
  bool NoteHandOver(CellNumber cell, HandOver result);
  /// One more, unless there are as many as there may be.
  void Grow();
  std::size_t size() const { return cells_.size(); }

  CellSupervisor& first() { return *cells_.front(); }
  const CellSupervisor& first() const { return *cells_.front(); }

 private:
  void OnForked(Isolate isolate) override { listener_.OnForked(std::move(isolate)); }
  void OnCellMade(std::unique_ptr<Cell> cell) override { listener_.OnCellMade(std::move(cell)); }
  void OnCellReady() override { listener_.OnCellReady(); }
  void OnCellLost() override { listener_.OnCellLost(); }
  void OnCellRetired(CellNumber cell) override { listener_.OnCellRetired(cell); }
  void OnForbiddenCalls(std::unique_ptr<ForbiddenCalls> reports) override {
    listener_.OnForbiddenCalls(std::move(reports));
  }
  void OnCellHealth(bool healthy) override;

  CellSupervisor* Idlest();
  void Add();

  EventLoop& loop_;
  const CellFactory factory_;
  CellListener& listener_;
  WorkerStats& stats_;
  const CellSupervisor::Options options_;
  const std::size_t most_;
  ForkPressure pressure_;
  bool healthy_ = true;
  std::vector<std::unique_ptr<CellSupervisor>> cells_;
};

}  // namespace skerry::agent
