// A forked isolate as the worker holds it.
//
// Threads: the event loop's.
// Ownership: the Isolate owns the process: one that is destroyed unreaped is killed and reaped then.
// Errors: see process.h.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "worker/agent/cells/cell.h"
#include "worker/agent/process.h"

namespace skerry::agent {

/// Counts the derived cells of one worker (derived_cells.h), from 1.
using DerivedNumber = std::uint64_t;

/// What an isolate's cell had done beyond what its base cell has.
struct Descent {
  DerivedNumber derived = 0;  ///< 0: nothing, it is the base cell
  /// Where a program has been evaluated: what the cell had before that. All since counts as the job's.
  std::optional<MemoryReading> before_program;
};

/// Jobs that have run in an isolate before (`reuse: "context"`).
struct IsolatePast {
  std::uint32_t jobs = 0;
  MemoryReading first;  ///< before the first of them
};

class Isolate {
 public:
  Isolate(ForkedProcess process, CellNumber cell, std::shared_ptr<const V8Build> v8, Descent descent = {})
      : process_(std::move(process)), cell_(cell), v8_(std::move(v8)), descent_(std::move(descent)) {}
  ~Isolate();
  Isolate(Isolate&&) noexcept = default;  // the source holds no process any more
  Isolate& operator=(Isolate&&) = delete;
  Isolate(const Isolate&) = delete;

  pid_t pid() const { return process_.pid; }
  int pidfd() const { return process_.pidfd.get(); }
  int socket() const { return process_.socket.get(); }
  /// The base cell that it descends from.
  CellNumber cell() const { return cell_; }
  const Descent& descent() const { return descent_; }
  const V8Build& v8() const { return *v8_; }
  IsolatePast& past() { return past_; }
  const IsolatePast& past() const { return past_; }

  /// SIGKILL. Harmless when it has ended already.
  void Kill() const;
  /// How it ended, once it has; it is reaped then, and pid() names nothing any more.
  std::optional<ExitStatus> TryReap();

 private:
  ForkedProcess process_;  // its home is let go after the reaping
  CellNumber cell_;
  std::shared_ptr<const V8Build> v8_;  // null in tests that ask for none
  Descent descent_;
  IsolatePast past_;
  bool reaped_ = false;
};

}  // namespace skerry::agent
