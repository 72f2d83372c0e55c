// How derived cells end, and what becomes of those that wait for them: the rest of derived_cells.h.
#include <algorithm>
#include <utility>

#include "common/logging.h"
#include "worker/agent/cells/derived_cells_entry.h"

namespace skerry::agent {
namespace {

using Use = KeptCells::Use;

std::string NamesOf(const Libraries& libraries) {
  std::string names;
  for (const auto& shelved : libraries) names += (names.empty() ? "" : ", ") + shelved.library->name;
  return names;
}

}  // namespace

Error WhyBroken(const Libraries& libraries) {
  return Error{ErrorKind::kInvalid, "libraries cannot be evaluated on this worker: " + NamesOf(libraries)};
}

void DerivedCells::OnCellLost(DerivedNumber number, const Error& why) {
  const EntryPtr entry = Find(number);
  if (!entry) return;
  if (!entry->is_program()) return LoseLibraries(entry, why);
  const bool served = entry->ready() && entry->cell->forks() > entry->cell->pending_forks();
  const bool killed = why.kind == ErrorKind::kUnavailable;
  const bool unkeepable = why.kind == ErrorKind::kInvalid || (!served && !killed);
  log::Debug("a program is not kept", {{"derivedCell", number}, {"reason", why.message}});
  if (unkeepable) {
    unkeepable_.Add(entry->key, loop_.Now(), options_.unkeepable_for);
  } else if (!served) {
    unkeepable_.Add(entry->key, loop_.Now(), options_.killed_for);
  }
  End(entry, unkeepable ? DerivedCellEvent::kProgramUnkeepable : DerivedCellEvent::kProgramEnded, why);
}

void DerivedCells::LoseLibraries(const EntryPtr& entry, const Error& why) {
  if (!entry->ready() && why.kind != ErrorKind::kUnavailable) return FailLibraries(entry, why);
  stats_.Count(DerivedCellEvent::kLibraryEnded);
  log::Warn("a cell with libraries is lost",
            {{"libraries", NamesOf(entry->libraries)}, {"reason", why.message}});
  Restart(*entry);
  AdvanceLater(entry);
}

void DerivedCells::FailLibraries(const EntryPtr& entry, const Error& why) {
  const auto news = broken_.Add(entry->key, entry->libraries, loop_.Now());
  const LogFields fields = {{"libraries", NamesOf(entry->libraries)}, {"reason", why.message}};
  if (news == BrokenLibraries::News::kFirst) {
    log::Error("libraries cannot be evaluated; jobs that name them are LOST until they can", fields);
  } else {
    log::Debug("libraries still cannot be evaluated", fields);
  }
  RetryLater();
  const Error told = WhyBroken(entry->libraries);
  const auto entries = entries_;
  End(entry, DerivedCellEvent::kLibraryFailed, told);
  for (const auto& [number, program] : entries) {
    if (program->state != State::kUp && program->parent_key == entry->key && Find(number))
      End(program, DerivedCellEvent::kProgramEnded, told);
  }
}

void DerivedCells::NoteLibrariesWork(const EntryPtr& entry) {
  if (!broken_.Remove(entry->key)) return;
  log::Info("libraries can be evaluated again", {{"libraries", NamesOf(entry->libraries)}});
}

void DerivedCells::RetryLater() {
  if (const auto next = broken_.NextRetry())
    retry_timer_ = loop_.deadlines().At(std::max(*next, loop_.Now()), [this] { Retry(); });
}

void DerivedCells::Retry() {
  for (const auto& [key, libraries] : broken_.TakeDue(loop_.Now())) Advance(LibrariesOf(libraries, key));
  RetryLater();
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
  if (!entry->is_program() && event != DerivedCellEvent::kLibraryFailed) broken_.GiveUp(entry->key);
  entry->later.Cancel();
  entry->patience.Cancel();
  entry->cell.reset();
  entry->jobs.FailAll(why);
}

}  // namespace skerry::agent
