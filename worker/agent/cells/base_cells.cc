#include "worker/agent/cells/base_cells.h"

#include <algorithm>
#include <utility>

#include "common/logging.h"

namespace skerry::agent {

BaseCells::BaseCells(EventLoop& loop, CellFactory factory, CellListener& listener, WorkerStats& stats,
                     CellSupervisor::Options options, std::size_t most, ForkPressure::Options pressure)
    : loop_(loop),
      factory_(std::move(factory)),
      listener_(listener),
      stats_(stats),
      options_(options),
      most_(most),
      pressure_(pressure) {
  Add();
}

void BaseCells::Add() {
  CellSupervisor::Options options = options_;
  options.first_number = cells_.size() + 1;
  options.number_step = most_;
  cells_.push_back(
      std::make_unique<CellSupervisor>(loop_, factory_, static_cast<CellListener&>(*this), stats_, options));
}

void BaseCells::Start(std::function<void(Status)> done) {
  first().Start(std::move(done));
}

void BaseCells::Grow() {
  if (cells_.size() >= most_) return;
  Add();
  log::Info("another cell is started, since forks queue", {{"cells", cells_.size()}});
  cells_.back()->Start({});
}

CellSupervisor* BaseCells::Idlest() {
  const auto rank = [](const CellSupervisor& cell) { return std::pair(cell.retiring(), cell.pending()); };
  CellSupervisor* idlest = nullptr;
  for (const auto& cell : cells_) {
    if (cell->ready() && (idlest == nullptr || rank(*cell) < rank(*idlest))) idlest = cell.get();
  }
  return idlest;
}

void BaseCells::RequestForks(std::size_t count, std::size_t jobs_waiting) {
  for (; count > 0; --count) {
    CellSupervisor* const cell = Idlest();
    if (cell == nullptr) return;
    if (pressure_.Note(jobs_waiting, cell->pending(), loop_.Now())) Grow();
    const std::size_t before = cell->pending();
    cell->RequestForks(1);
    if (cell->pending() == before)
      return;  // too many on their way already; the listener is told when to go on
  }
}

std::size_t BaseCells::pending() const {
  std::size_t pending = 0;
  for (const auto& cell : cells_) pending += cell->pending();
  return pending;
}

std::size_t BaseCells::ready() const {
  return static_cast<std::size_t>(
      std::count_if(cells_.begin(), cells_.end(), [](const auto& cell) { return cell->ready(); }));
}

void BaseCells::Retire(CellNumber cell, CellRestart reason) {
  for (const auto& supervisor : cells_) supervisor->Retire(cell, reason);
}

bool BaseCells::NoteHandOver(CellNumber cell, HandOver result) {
  return std::any_of(cells_.begin(), cells_.end(),
                     [&](const auto& supervisor) { return supervisor->NoteHandOver(cell, result); });
}

void BaseCells::OnCellHealth(bool) {
  const bool healthy =
      std::any_of(cells_.begin(), cells_.end(), [](const auto& cell) { return cell->IsHealthy(); });
  if (std::exchange(healthy_, healthy) != healthy) listener_.OnCellHealth(healthy);
}

}  // namespace skerry::agent
