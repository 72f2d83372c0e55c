#include "worker/agent/cells/cell_supervisor.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "common/logging.h"

namespace skerry::agent {
namespace {

// A cell that lived this long was a working one: the next failure is a new story.
constexpr Millis kProvenAge{10'000};
// Failures in a row after which the broker is told to send no jobs.
constexpr int kUnhealthyFailures = 3;
// No program has run in such isolates yet: so many failures in a row are their cell's fault.
constexpr int kMaxUseless = 8;

}  // namespace

CellSupervisor::CellSupervisor(EventLoop& loop, CellFactory factory, CellListener& listener,
                               WorkerStats& stats, Options options)
    : loop_(loop),
      listener_(listener),
      stats_(stats),
      options_(options),
      starter_(loop, std::move(factory)),
      next_number_(options.first_number),
      back_off_(options.first_delay, options.longest_delay) {}

void CellSupervisor::Start(std::function<void(Status)> done) {
  first_start_ = std::move(done);
  BeginStart();
}

void CellSupervisor::BeginStart() {
  if (starting_ || stopped_) return;
  starting_ = true;
  start_scheduled_ = false;
  start_timer_.Cancel();
  starter_.Start([this](Result<std::unique_ptr<Cell>> started) { OnStarted(std::move(started)); });
}

void CellSupervisor::OnStarted(Result<std::unique_ptr<Cell>> started) {
  starting_ = false;
  if (stopped_) return;
  const auto first_start = std::exchange(first_start_, nullptr);
  if (!started) {
    stats_.Count(CellRestart::kStartFailed);
    if (first_start) return first_start(Fail(started.error()));
    log::Error("a cell could not be started", {{"reason", started.error().message}});
    return StartLater();
  }
  const std::optional<CellNumber> retired = std::exchange(retiring_, std::nullopt);
  running_.reset();
  fork_timer_.Cancel();
  RunningCell& running = running_.emplace();
  running.number = std::exchange(next_number_, next_number_ + options_.number_step);
  running.cell = std::move(*started);
  running.since = loop_.Now();
  running.v8 = std::make_shared<const V8Build>(running.cell->v8());
  v8_version_ = running.v8->version;
  sandbox_level_ = running.cell->sandbox_level();
  running.watch = loop_.OnReadable(running.cell->control_fd(), [this] { OnControlReadable(); });
  age_timer_ = loop_.After(options_.max_age, [this] { RenewIfOld(); });
  log::Info(
      "a cell is ready",
      {{"cell", running.number}, {"pid", running.cell->pid()}, {"sandbox", running.cell->DescribeSandbox()}});
  if (const std::string missing = running.cell->MissingFromSandbox(); !missing.empty()) {
    log::Warn("a cell's sandbox is not complete, as --sandbox allows",
              {{"cell", running.number}, {"missing", missing}});
  }
  if (auto reports = running.cell->TakeForbiddenCalls()) listener_.OnForbiddenCalls(std::move(reports));
  if (retired) listener_.OnCellRetired(*retired);
  // Where cells start and die, it is a fork that shows that one is of use. Nobody else may ask for one: a
  // worker in bad health gets no jobs.
  if (!healthy_) RequestForks(1);
  listener_.OnCellReady();
  if (first_start) first_start({});
}

void CellSupervisor::RequestForks(std::size_t count) {
  for (; count > 0 && running_; --count) {
    if (auto status = running_->cell->RequestFork(); !status) {
      if (status.error().kind == ErrorKind::kExhausted) return AskAgainLater();
      // Not from here: the caller may be in the middle of its own bookkeeping.
      loop_.Post([this, number = running_->number, why = status.error().message] {
        if (running_ && running_->number == number) OnCellLost(CellRestart::kDied, why);
      });
      return;
    }
    NoteAsked(RunningCell::What::kFork);
  }
  RenewIfOld();
}

Status CellSupervisor::RequestCell(std::shared_ptr<const cell::CellRecipe> recipe) {
  if (!running_) return Fail(ErrorKind::kUnavailable, "no cell is running");
  // One that dies of it says so through its control socket.
  if (auto status = running_->cell->RequestCell(std::move(recipe)); !status) return status;
  NoteAsked(RunningCell::What::kCell);
  RenewIfOld();
  return {};
}

void CellSupervisor::NoteAsked(RunningCell::What what) {
  running_->asked.push_back({loop_.Now(), what});
  if (what == RunningCell::What::kFork) ++running_->pending_forks;
  ++running_->forks;
  if (running_->asked.size() == 1) ArmForkTimeout();
}

std::optional<BaseCell> CellSupervisor::running() const {
  if (!running_) return std::nullopt;
  return BaseCell{running_->number, running_->cell->pid(), running_->v8, running_->cell->KeepsPrograms()};
}

// The kernel bounds the descriptors that one user has on their way, those of other workers included: no fault
// of the cell.
void CellSupervisor::AskAgainLater() {
  ask_again_timer_ = loop_.After(kAskAgainAfter, [this] {
    if (running_) listener_.OnCellReady();
  });
}

void CellSupervisor::ArmForkTimeout() {
  fork_timer_ = loop_.After(options_.fork_timeout,
                            [this] { OnCellLost(CellRestart::kForkTimeout, "it does not fork"); });
}

void CellSupervisor::OnControlReadable() {
  for (const CellNumber number = running_->number; running_ && running_->number == number;) {
    auto forked = running_->cell->OnReadable();
    if (!forked) {
      const bool alive = forked.error().kind == ErrorKind::kExhausted;
      return OnCellLost(alive ? CellRestart::kForkFailed : CellRestart::kDied, forked.error().message);
    }
    if (!*forked) return;
    TakeForked(std::move(**forked));
  }
}

void CellSupervisor::TakeForked(Forked forked) {
  auto* const made = std::get_if<std::unique_ptr<Cell>>(&forked);
  if (!running_->asked.empty()) {
    const RunningCell::Asked asked = running_->asked.front();
    if ((asked.what == RunningCell::What::kCell) != (made != nullptr)) {
      return OnCellLost(CellRestart::kDied, "it hands out another thing than was asked for");
    }
    running_->asked.pop_front();
    if (asked.what == RunningCell::What::kFork) {
      --running_->pending_forks;
      stats_.fork_times.Observe(std::chrono::duration_cast<Micros>(loop_.Now() - asked.at));
    }
  }
  if (!running_->asked.empty()) {
    ArmForkTimeout();
  } else {
    fork_timer_.Cancel();
  }
  SetHealthy(true);
  if (made != nullptr) return listener_.OnCellMade(std::move(*made));
  listener_.OnForked(Isolate(std::move(std::get<ForkedProcess>(forked)), running_->number, running_->v8));
}

void CellSupervisor::OnCellLost(CellRestart reason, const std::string& why) {
  stats_.Count(reason);
  log::Error("a cell is lost", {{"cell", running_->number}, {"cause", NameOf(reason)}, {"reason", why}});
  if (loop_.Now() - running_->since >= kProvenAge) back_off_.Reset();
  running_.reset();
  retiring_.reset();
  fork_timer_.Cancel();
  age_timer_.Cancel();
  if (!starting_) StartLater();
  listener_.OnCellLost();
}

void CellSupervisor::StartLater() {
  const Millis delay = back_off_.Next();
  if (!running_ && back_off_.failures() >= kUnhealthyFailures) SetHealthy(false);
  StartAt(loop_.Now() + delay);
}

void CellSupervisor::StartAt(TimePoint when) {
  start_scheduled_ = true;
  start_timer_ = loop_.deadlines().At(when, [this] { BeginStart(); });
}

void CellSupervisor::RenewIfOld() {
  if (!running_ || starting_ || start_scheduled_) return;
  const bool old = loop_.Now() - running_->since >= options_.max_age;
  if (running_->forks < options_.max_forks && !old) return;
  stats_.Count(old ? CellRestart::kAge : CellRestart::kForks);
  log::Info("a cell is renewed", {{"cell", running_->number}, {"forks", running_->forks}});
  BeginStart();
}

void CellSupervisor::Retire(CellNumber cell, CellRestart reason) {
  if (!running_ || running_->number != cell || retiring_ == cell) return;
  stats_.Count(reason);
  log::Warn("a cell is retired", {{"cell", cell}, {"cause", NameOf(reason)}});
  retiring_ = cell;
  const TimePoint earliest = running_->since + options_.retire_interval;
  if (loop_.Now() >= earliest) return BeginStart();
  StartAt(earliest);
}

bool CellSupervisor::NoteHandOver(CellNumber cell, HandOver result) {
  if (!running_ || running_->number != cell) return false;
  if (result == HandOver::kWorked) {
    running_->useless = 0;
    return false;
  }
  if (++running_->useless < kMaxUseless) return false;
  Retire(cell, CellRestart::kUseless);
  return true;
}

void CellSupervisor::SetHealthy(bool healthy) {
  if (healthy_ == healthy) return;
  healthy_ = healthy;
  listener_.OnCellHealth(healthy);
}

void CellSupervisor::Stop() {
  stopped_ = true;
  start_timer_.Cancel();
  age_timer_.Cancel();
}

}  // namespace skerry::agent
