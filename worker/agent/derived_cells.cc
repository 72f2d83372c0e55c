#include "worker/agent/derived_cells.h"

#include <algorithm>
#include <utility>

#include "common/logging.h"
#include "worker/agent/cell_key.h"

namespace skerry::agent {
namespace {

using Kind = DerivedCell::Kind;
using Use = KeptCells::Use;

Error Unavailable(std::string why) {
  return Error{ErrorKind::kUnavailable, std::move(why)};
}

/// The program's part of a job: nothing that names it or whose it is.
std::shared_ptr<const cell::CellRecipe> ProgramRecipe(const JobPlan& plan) {
  const JobSpec& job = plan.dispatch.job;
  cell::CellProgram program;
  program.job.mode = job.mode;
  program.job.limits = job.limits;
  program.job.memory_mb = job.memory_mb;
  program.job.wasm = job.wasm;
  program.job.seed = job.seed;
  program.job.clock_ms = job.clock_ms;
  program.job.libraries = job.libraries;
  program.code = plan.code;
  auto recipe = std::make_shared<cell::CellRecipe>();
  recipe->program = std::move(program);
  return recipe;
}

Limits LibraryLimits() {
  Limits limits;
  limits.Set(LimitId::kMemoryMb, DerivedCells::kLibraryMb);
  limits.Set(LimitId::kTimeoutMs, DerivedCells::kLibraryTime.count());
  return limits;
}

}  // namespace

struct DerivedCells::Entry {
  Entry(EventLoop& loop, std::optional<Millis> max_wait, std::function<void()> on_left, BackOff delays)
      : jobs(loop, max_wait, std::move(on_left)), back_off(delays) {}

  DerivedNumber number = 0;
  std::string key;
  Kind kind = Kind::kLibraries;
  std::shared_ptr<const cell::CellRecipe> recipe;  // of programs only until it is done
  Limits limits;
  std::string parent_key;  // of the libraries that its program uses; empty: it comes from the base cell
  State state = State::kWanted;
  bool admitted = false;
  WaitingJobs jobs;
  std::unique_ptr<DerivedCell> cell;
  std::deque<DerivedNumber> orders;  // cells asked of this one, in order
  BackOff back_off;
  Deadlines::Handle patience;  // of a program that is not there
  Deadlines::Handle later;

  bool ready() const { return cell && cell->ready(); }
  bool is_program() const { return kind == Kind::kProgram; }
};

DerivedCells::DerivedCells(EventLoop& loop, CellSupervisor& base, ForbiddenCallWatch& forbidden_calls,
                           WorkerStats& stats, Options options)
    : loop_(loop),
      base_(base),
      forbidden_calls_(forbidden_calls),
      stats_(stats),
      options_(options),
      kept_(options.kept),
      unkeepable_(options.max_unkeepable, options.unkeepable_for) {}

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
  RenewIfOld(key);
  EntryPtr entry = FindKey(key);
  if (!entry) {
    if (!Evict(kept_.RoomFor({1, 0}))) return std::nullopt;
    entry = Make(key, Kind::kProgram, std::nullopt);
    kept_.Add(entry->number, 0);
    entry->admitted = true;
    entry->recipe = ProgramRecipe(plan);
    entry->limits = plan.limits;
    if (!plan.libraries.empty()) {
      entry->parent_key = LibraryKey(plan);
      LibrariesOf(plan.libraries, entry->parent_key);
    }
    EndAfter(options_.max_wait, entry, Unavailable("no cell could be made for its program in time"));
  }
  auto ticket = entry->jobs.Add(std::move(ready));
  Advance(entry);
  return ticket;
}

WaitingJobs::Ticket DerivedCells::AwaitLibraries(const JobPlan& plan, WaitingJobs::Ready ready) {
  const std::string key = LibraryKey(plan);
  RenewIfOld(key);
  const EntryPtr entry = LibrariesOf(plan.libraries, key);
  auto ticket = entry->jobs.Add(std::move(ready));
  Advance(entry);
  return ticket;
}

DerivedCells::EntryPtr DerivedCells::LibrariesOf(const Libraries& libraries, std::string key) {
  if (EntryPtr known = FindKey(key)) return known;
  EntryPtr entry = Make(std::move(key), Kind::kLibraries, options_.max_wait);
  auto recipe = std::make_shared<cell::CellRecipe>();
  for (const ShelvedLibrary& shelved : libraries) recipe->libraries.push_back(shelved.library);
  entry->recipe = std::move(recipe);
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
    const auto asked = entry->cell->RequestFork();
    if (asked) continue;
    if (asked.error().kind != ErrorKind::kExhausted) {
      // Not from here: the caller may be in the middle of its own bookkeeping.
      entry->later = loop_.After(
          Millis(0), [this, number = entry->number, why = asked.error()] { OnCellLost(number, why); });
    }
    break;
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
  if (!memory) return OnCellLost(entry->number, memory.error());
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
  if (!settled) return OnCellLost(number, settled.error());
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
  if (entry->is_program()) entry->recipe.reset();
  Advance(entry);
  if (entry->is_program()) return;
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

void DerivedCells::OnCellLost(DerivedNumber number, const Error& why) {
  const EntryPtr entry = Find(number);
  if (!entry) return;
  if (!entry->is_program()) return LoseLibraries(entry, why);
  const bool served = entry->ready() && entry->cell->forks() > entry->cell->pending_forks();
  const bool unkeepable = why.kind == ErrorKind::kInvalid || !served;
  log::Debug("a program is not kept", {{"derivedCell", number}, {"reason", why.message}});
  if (unkeepable) unkeepable_.Add(entry->key, loop_.Now());
  End(entry, unkeepable ? DerivedCellEvent::kProgramUnkeepable : DerivedCellEvent::kProgramEnded, why);
}

void DerivedCells::LoseLibraries(const EntryPtr& entry, const Error& why) {
  if (entry->ready()) {
    stats_.Count(DerivedCellEvent::kLibraryEnded);
  } else {
    std::string names;
    for (const auto& library : entry->recipe->libraries) names += (names.empty() ? "" : ", ") + library->name;
    log::Error("libraries cannot be evaluated; jobs that name them wait",
               {{"libraries", names}, {"reason", why.message}});
    stats_.Count(DerivedCellEvent::kLibraryFailed);
  }
  Restart(*entry);
  AdvanceLater(entry);
}

void DerivedCells::Restart(Entry& entry) {
  for (const DerivedNumber number : entry.orders) {
    if (const EntryPtr program = Find(number)) program->state = State::kWanted;
  }
  entry.orders.clear();
  entry.cell.reset();
  entry.state = State::kWanted;
  entry.admitted = false;
  kept_.Remove(entry.number);
}

void DerivedCells::Retire(DerivedNumber number) {
  const EntryPtr entry = Find(number);
  if (!entry || !entry->is_program()) return;
  OnCellLost(number, Unavailable("an isolate of it died in a way that may have shown its layout"));
}

void DerivedCells::NoteFailedHandOver(DerivedNumber number) {
  OnCellLost(number, {ErrorKind::kInvalid, "an isolate of it did not take its job"});
}

void DerivedCells::OnLeft(DerivedNumber number) {
  const EntryPtr entry = Find(number);
  if (!entry) return;
  NoteUse(*entry);
  if (!entry->jobs.empty() || entry->ready()) return;
  // Libraries that are on their way will be of use yet.
  if (!entry->is_program() && (entry->state != State::kWanted || IsWantedByPrograms(*entry))) return;
  // Not from here: the queue that one has just left would be gone.
  entry->later = loop_.After(Millis(0), [this, number] {
    const EntryPtr found = Find(number);
    if (!found || found->ready()) return;
    if (!found->jobs.empty()) return Advance(found);
    End(found, found->is_program() ? DerivedCellEvent::kProgramEnded : DerivedCellEvent::kLibraryEnded,
        Unavailable("nobody waits for it"));
  });
}

void DerivedCells::NoteUse(const Entry& entry) {
  const bool busy = !entry.ready() || !entry.jobs.empty() || entry.cell->pending() > 0 ||
                    (!entry.is_program() && IsWantedByPrograms(entry));
  kept_.Set(entry.number, busy ? Use::kBusy : Use::kIdle);
}

bool DerivedCells::IsWantedByPrograms(const Entry& libraries) const {
  return std::any_of(entries_.begin(), entries_.end(), [&](const auto& numbered) {
    const Entry& entry = *numbered.second;
    return entry.state != State::kUp && entry.parent_key == libraries.key;
  });
}

void DerivedCells::EndAfter(Millis delay, const EntryPtr& entry, Error why) {
  entry->patience = loop_.After(delay, [this, number = entry->number, why = std::move(why)] {
    if (const EntryPtr found = Find(number)) End(found, DerivedCellEvent::kProgramEnded, why);
  });
}

void DerivedCells::End(const EntryPtr& entry, DerivedCellEvent event, const Error& why) {
  stats_.Count(event);
  entries_.erase(entry->number);
  by_key_.erase(entry->key);
  kept_.Remove(entry->number);
  entry->later.Cancel();
  entry->patience.Cancel();
  entry->cell.reset();
  entry->jobs.FailAll(why);
}

}  // namespace skerry::agent
