#include "worker/agent/isolates/isolate_manager.h"

#include <signal.h>

#include <algorithm>
#include <utility>

#include "common/logging.h"

namespace skerry::agent {

IsolateManager::IsolateManager(EventLoop& loop, CellFactory factory, Options options)
    : loop_(loop),
      options_(options),
      ledger_(options.max_concurrent_isolates, options.JobsMb()),
      forbidden_calls_(loop),
      oom_kills_(options.machine_root),
      keeper_(loop, stats_, options.max_spares, [this](const ExitStatus& status) { CountIdleDeath(status); }),
      jobs_(loop, options.max_wait),
      wanted_spares_(options.max_spares),
      cells_(loop, std::move(factory), *this, stats_, options.cells, options.max_cells, options.pressure),
      derived_(loop, cells_.first(), forbidden_calls_, stats_, options.derived) {}

void IsolateManager::OnCellReady() {
  Refill();
  derived_.OnBaseReady();
}

void IsolateManager::Start(std::function<void(Status)> done) {
  cells_.Start(std::move(done));
}

std::optional<Isolate> IsolateManager::TakeSpare() {
  std::optional<Isolate> isolate;
  while (!isolate && !spares_.empty()) {
    Spare& oldest = spares_.front();
    oldest.watch.Reset();
    // One that died a moment ago, with the news still in the loop's queue, is of no use to a job.
    if (const auto status = oldest.isolate.TryReap()) {
      CountIdleDeath(*status);
    } else {
      isolate.emplace(std::move(oldest.isolate));
    }
    spares_.pop_front();
  }
  Refill();
  return isolate;
}

IsolateManager::Ticket IsolateManager::Await(WaitingJobs::Ready ready) {
  Ticket ticket = jobs_.Add(std::move(ready));
  Refill();
  return ticket;
}

void IsolateManager::OnForked(Isolate isolate) {
  if (jobs_.empty()) return AddSpare(std::move(isolate));
  jobs_.Serve(std::move(isolate));
}

void IsolateManager::AddSpare(Isolate isolate) {
  // A job that waited may have gone meanwhile; the Isolate's end kills and reaps it.
  if (spares_.size() >= wanted_spares_) return stats_.Count(IsolateExit::kDiscarded);
  const auto spare = spares_.emplace(spares_.end(), std::move(isolate));
  spare->watch = loop_.OnReadable(spare->isolate.pidfd(), [this, spare] { OnSpareDied(spare); });
}

void IsolateManager::OnSpareDied(Spares::iterator spare) {
  const auto status = spare->isolate.TryReap();
  if (!status) return;
  CountIdleDeath(*status);
  const CellNumber cell = spare->isolate.cell();
  log::Warn("an idle isolate died", {{"cell", cell}, {"signal", status->signal}, {"status", status->code}});
  spares_.erase(spare);
  // When it was one too many, refilling waits for the next cell: forking more of these would go round in
  // circles.
  if (!cells_.NoteHandOver(cell, HandOver::kFailed)) Refill();
}

void IsolateManager::CountIdleDeath(const ExitStatus& status) {
  stats_.Count(IsolateExit::kDiedIdle);
  if (status.signal == SIGKILL && oom_kills_.Explain(loop_.Now())) {
    log::Error("the kernel's OOM killer took an idle isolate; the machine or its group is short of memory");
  }
}

void IsolateManager::OnCellRetired(CellNumber cell) {
  keeper_.Drop(cell);
  const std::size_t before = spares_.size();
  spares_.remove_if([&](const Spare& spare) { return spare.isolate.cell() == cell; });
  stats_.exits[static_cast<std::size_t>(IsolateExit::kDiscarded)] += before - spares_.size();
}

void IsolateManager::OnCellHealth(bool healthy) {
  if (on_health_) on_health_(healthy);
}

WorkerStats IsolateManager::Figures() const {
  WorkerStats figures = stats_;
  figures.spares = spares_.size();
  figures.cells = cells_.ready();
  return figures;
}

void IsolateManager::StopSpares() {
  keeper_.Stop();
  wanted_spares_ = 0;
}

void IsolateManager::Refill() {
  const std::size_t missing = wanted_spares_ > spares_.size() ? wanted_spares_ - spares_.size() : 0;
  const std::size_t wanted = jobs_.size() + missing;
  if (wanted > cells_.pending()) cells_.RequestForks(wanted - cells_.pending(), jobs_.size());
}

}  // namespace skerry::agent
