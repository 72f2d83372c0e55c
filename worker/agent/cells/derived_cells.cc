#include "worker/agent/cells/derived_cells.h"

#include <algorithm>
#include <utility>

#include "common/logging.h"
#include "worker/agent/cells/cell_key.h"
#include "worker/agent/cells/cell_recipes.h"
#include "worker/agent/cells/derived_cells_entry.h"

namespace skerry::agent {
namespace {

using Kind = DerivedCell::Kind;

}  // namespace

DerivedCells::DerivedCells(EventLoop& loop, CellSupervisor& base, ForbiddenCallWatch& forbidden_calls,
                           WorkerStats& stats, Options options)
    : loop_(loop),
      base_(base),
      forbidden_calls_(forbidden_calls),
      stats_(stats),
      options_(options),
      kept_(options.kept),
      unkeepable_(options.max_unkeepable),
      broken_(options.broken) {}

DerivedCells::~DerivedCells() = default;

DerivedCells::EntryPtr DerivedCells::Find(DerivedNumber number) const {
  const auto found = entries_.find(number);
  return found == entries_.end() ? nullptr : found->second;
}

DerivedCells::EntryPtr DerivedCells::FindKey(const std::string& key) const {
  const auto found = by_key_.find(key);
  return found == by_key_.end() ? nullptr : Find(found->second);
}

DerivedCells::EntryPtr DerivedCells::Make(std::string key, Kind kind, std::optional<Millis> max_wait) {
  const DerivedNumber number = ++last_number_;
  auto entry = std::make_shared<Entry>(
      loop_, max_wait, [this, number] { OnLeft(number); },
      BackOff(options_.first_delay, options_.longest_delay));
  entry->number = number;
  entry->key = key;
  entry->kind = kind;
  entries_[number] = entry;
  by_key_[std::move(key)] = number;
  return entry;
}

std::optional<WaitingJobs::Ticket> DerivedCells::AwaitProgram(const JobPlan& plan, WaitingJobs::Ready ready) {
  // Whoever does not say what its code is called cannot be told from others.
  if (plan.dispatch.job.code_hash.empty() || options_.kept.memory_mb == 0) return std::nullopt;
  if (const auto base = base_.running(); base && !base->keeps_programs) return std::nullopt;
  const std::string key = ProgramKey(plan);
  if (unkeepable_.Contains(key, loop_.Now())) return std::nullopt;
  const std::string libraries = plan.libraries.empty() ? std::string() : LibraryKey(plan.libraries);
  if (!libraries.empty() && AreBroken(libraries)) return std::nullopt;
  RenewIfOld(key);
  EntryPtr entry = FindKey(key);
  if (!entry) {
    if (!MakeRoomForProgram(plan, libraries)) return std::nullopt;
    entry = Make(key, Kind::kProgram, std::nullopt);
    kept_.Add(entry->number, 0);
    entry->admitted = true;
    entry->recipe = ProgramRecipe(plan);
    entry->limits = plan.limits;
    entry->parent_key = libraries;
    EndAfter(options_.max_wait, entry, Unavailable("no cell could be made for its program in time"));
  }
  auto ticket = entry->jobs.Add(std::move(ready));
  Advance(entry);
  return ticket;
}

// With its libraries' cell or not at all: programs that had taken every place would wait for libraries that
// find none.
bool DerivedCells::MakeRoomForProgram(const JobPlan& plan, const std::string& libraries) {
  if (libraries.empty()) return Evict(kept_.RoomFor({1, 0}));
  const EntryPtr parent = LibrariesOf(plan.libraries, libraries);
  kept_.Set(parent->number, KeptCells::Use::kBusy);  // so that it does not go for its own program
  const bool room =
      Evict(kept_.RoomFor(parent->admitted ? KeptCells::Demand{1, 0} : KeptCells::Demand{2, kLibraryMb})) &&
      Admit(*parent);
  if (!room) NoteUse(*parent);
  return room;
}

Result<WaitingJobs::Ticket> DerivedCells::AwaitLibraries(const JobPlan& plan, WaitingJobs::Ready ready) {
  const std::string key = LibraryKey(plan.libraries);
  if (AreBroken(key)) return Fail(WhyBroken(plan.libraries));
  RenewIfOld(key);
  const EntryPtr entry = LibrariesOf(plan.libraries, key);
  auto ticket = entry->jobs.Add(std::move(ready));
  Advance(entry);
  return ticket;
}

bool DerivedCells::AreBroken(const std::string& key) {
  // One of its cells may be there still, of before they failed.
  const EntryPtr known = FindKey(key);
  if ((known && known->ready()) || !broken_.Ask(key)) return false;
  RetryLater();
  return true;
}

DerivedCells::EntryPtr DerivedCells::LibrariesOf(const Libraries& libraries, std::string key) {
  if (EntryPtr known = FindKey(key)) return known;
  EntryPtr entry = Make(std::move(key), Kind::kLibraries, options_.max_wait);
  entry->recipe = LibraryRecipe(libraries);
  entry->libraries = libraries;
  entry->limits = LibraryLimits();
  return entry;
}

void DerivedCells::RenewIfOld(const std::string& key) {
  const EntryPtr entry = FindKey(key);
  if (!entry || !entry->ready() || entry->cell->pending() > 0 || !entry->jobs.empty()) return;
  const bool old = loop_.Now() - entry->cell->since() >= options_.max_age;
  if (!old && entry->cell->forks() < options_.max_forks) return;
  End(entry, entry->is_program() ? DerivedCellEvent::kProgramEnded : DerivedCellEvent::kLibraryEnded,
      Unavailable("its cell is renewed"));
}

void DerivedCells::Advance(const EntryPtr& entry) {
  if (entry->state == State::kWanted && !AskParent(entry)) return;
  if (!entry->ready()) return NoteUse(*entry);
  while (entry->jobs.size() > entry->cell->pending_forks()) {
    if (!entry->cell->RequestFork()) break;
  }
  NoteUse(*entry);
}

bool DerivedCells::AskParent(const EntryPtr& entry) {
  if (!Admit(*entry)) {
    AdvanceLater(entry);
    return false;
  }
  return entry->parent_key.empty() ? AskBase(entry) : AskLibraries(entry);
}

bool DerivedCells::AskBase(const EntryPtr& entry) {
  const auto base = base_.running();
  if (!base || base->number != base_number_) return false;  // OnBaseReady comes
  const Status asked = base_.RequestCell(entry->recipe);
  if (asked) base_orders_.push_back(entry->number);
  return NoteAsked(entry, asked);
}

bool DerivedCells::AskLibraries(const EntryPtr& entry) {
  const EntryPtr parent = FindKey(entry->parent_key);
  if (!parent) {
    EndAfter(Millis(0), entry, Unavailable("its libraries' cell is gone"));
    return false;
  }
  if (!parent->ready()) {
    Advance(parent);
    return false;  // OnCellPrepared of that one comes
  }
  const Status asked = parent->cell->RequestCell(entry->recipe);
  if (asked) parent->orders.push_back(entry->number);
  NoteUse(*parent);
  return NoteAsked(entry, asked);
}

bool DerivedCells::NoteAsked(const EntryPtr& entry, const Status& asked) {
  if (asked) {
    entry->state = State::kAsked;
    return true;
  }
  if (asked.error().kind == ErrorKind::kExhausted || !entry->is_program()) {
    AdvanceLater(entry);
  } else {
    EndAfter(Millis(0), entry, asked.error());
  }
  return false;
}

bool DerivedCells::Admit(Entry& entry) {
  if (entry.admitted) return true;
  if (!Evict(kept_.RoomFor({1, kLibraryMb}))) return false;
  kept_.Add(entry.number, kLibraryMb);
  entry.admitted = true;
  return true;
}

bool DerivedCells::Evict(const std::optional<std::vector<DerivedNumber>>& cells) {
  if (!cells) return false;
  for (const DerivedNumber number : *cells) {
    const EntryPtr entry = Find(number);
    if (!entry) continue;
    End(entry, entry->is_program() ? DerivedCellEvent::kProgramEvicted : DerivedCellEvent::kLibraryEvicted,
        Unavailable("its cell makes room for another"));
  }
  return true;
}

void DerivedCells::AdvanceLater(const EntryPtr& entry) {
  entry->later = loop_.After(entry->back_off.Next(), [this, number = entry->number] {
    if (const EntryPtr found = Find(number)) Advance(found);
  });
}

void DerivedCells::OnBaseReady() {
  const auto base = base_.running();
  if (!base) return;
  if (base->number != base_number_) base_orders_.clear();
  const bool renewed = std::exchange(base_number_, base->number) != base->number;
  const auto entries = entries_;  // some end, and their jobs ask for others
  for (const auto& [number, entry] : entries) {
    if (!Find(number)) continue;
    if (renewed && entry->state == State::kAsked) entry->state = State::kWanted;
    if (entry->state == State::kUp && entry->cell->birth().base != base->number) {
      const bool program = entry->is_program();
      if (program || (entry->jobs.empty() && !IsWantedByPrograms(*entry))) {
        End(entry, program ? DerivedCellEvent::kProgramEnded : DerivedCellEvent::kLibraryEnded,
            Unavailable("its base cell was replaced"));
        continue;
      }
      stats_.Count(DerivedCellEvent::kLibraryEnded);
      Restart(*entry);
    }
    if (entry->state == State::kWanted) Advance(entry);
  }
}

void DerivedCells::OnBaseMade(std::unique_ptr<Cell> cell) {
  const auto base = base_.running();
  if (!base) return;
  DerivedCellBirth birth;
  birth.base = base->number;
  birth.v8 = base->v8;
  Adopt(std::move(cell), base_orders_, std::move(birth), base->pid);
}

void DerivedCells::OnCellMade(DerivedNumber parent, std::unique_ptr<Cell> made) {
  const EntryPtr entry = Find(parent);
  if (!entry) return;
  DerivedCellBirth birth;
  birth.base = entry->cell->birth().base;
  birth.v8 = entry->cell->birth().v8;
  Adopt(std::move(made), entry->orders, std::move(birth), entry->cell->pid());
  NoteUse(*entry);
}

void DerivedCells::Adopt(std::unique_ptr<Cell> cell, std::deque<DerivedNumber>& orders,
                         DerivedCellBirth birth, pid_t parent) {
  if (orders.empty()) return;
  const EntryPtr entry = Find(orders.front());
  orders.pop_front();
  if (!entry || entry->state != State::kAsked) return;  // nobody waits for it any more; it dies here
  birth.number = entry->number;
  birth.limits = entry->limits;
  birth.kind = entry->kind;
  entry->patience.Cancel();
  const auto memory = ReadMemory(parent);
  if (!memory) return OnCellLost(entry->number, Unavailable("the cell that it comes from has ended"));
  birth.parent = *memory;
  entry->cell =
      std::make_unique<DerivedCell>(loop_, forbidden_calls_, std::move(cell), std::move(birth),
                                    options_.fork_timeout, static_cast<DerivedCellListener&>(*this));
  entry->state = State::kUp;
  entry->cell->Begin();
}

void DerivedCells::OnCellPrepared(DerivedNumber number) {
  const EntryPtr entry = Find(number);
  if (!entry) return;
  const auto settled = entry->cell->Settle(kSettled);
  if (!settled) return OnCellLost(number, Unavailable(settled.error().message));
  const std::uint64_t holds = *settled + kSettled.mib();
  kept_.Hold(number, 0);
  if (!Evict(kept_.RoomFor({0, holds}))) {
    return OnCellLost(number, {ErrorKind::kInvalid, "its evaluated state takes more memory than is for it"});
  }
  kept_.Hold(number, holds);
  entry->back_off.Reset();
  stats_.Count(entry->is_program() ? DerivedCellEvent::kProgramMade : DerivedCellEvent::kLibraryMade);
  log::Debug("a derived cell is ready",
             {{"derivedCell", number}, {"pid", entry->cell->pid()}, {"holdsMb", holds}});
  if (entry->is_program()) {
    entry->recipe.reset();
    return Advance(entry);
  }
  NoteLibrariesWork(entry);
  Advance(entry);
  const auto entries = entries_;
  for (const auto& [other_number, other] : entries) {
    if (other->state == State::kWanted && other->parent_key == entry->key && Find(other_number))
      Advance(other);
  }
}

void DerivedCells::OnCellForked(DerivedNumber number, Isolate isolate) {
  const EntryPtr entry = Find(number);
  if (!entry) return;
  if (entry->jobs.empty()) {
    stats_.Count(IsolateExit::kDiscarded);
  } else {
    stats_.Count(entry->is_program() ? DerivedCellEvent::kProgramJob : DerivedCellEvent::kLibraryJob);
    entry->jobs.Serve(std::move(isolate));
  }
  if (Find(number)) NoteUse(*entry);
}

void DerivedCells::OnCellHasRoom(DerivedNumber number) {
  const EntryPtr entry = Find(number);
  if (!entry) return;
  Advance(entry);
}

}  // namespace skerry::agent
