// One of the pool of derived cells: for those files that make up the pool (derived_cells.h) alone.
//
// Threads: the event loop's. Ownership: the pool's. Errors: none.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "worker/agent/cells/derived_cells.h"

namespace skerry::agent {

struct DerivedCells::Entry {
  Entry(EventLoop& loop, std::optional<Millis> max_wait, std::function<void()> on_left, BackOff delays)
      : jobs(loop, max_wait, std::move(on_left)), back_off(delays) {}

  DerivedNumber number = 0;
  std::string key;
  DerivedCell::Kind kind = DerivedCell::Kind::kLibraries;
  std::shared_ptr<const cell::CellRecipe> recipe;  // of programs only until it is done
  Libraries libraries;                             // that it is to have, where that is all
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
  bool is_program() const { return kind == DerivedCell::Kind::kProgram; }
};

inline Error Unavailable(std::string why) {
  return Error{ErrorKind::kUnavailable, std::move(why)};
}

/// What jobs are told that name libraries which fail; what the libraries said is their operator's to read.
Error WhyBroken(const Libraries& libraries);

}  // namespace skerry::agent
