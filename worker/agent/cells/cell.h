// A template process as the worker sees it: something that forks isolates. worker/cell implements it
// (real_cell.h), and tests do.
//
// Threads: the event loop's, except that a Cell may be made in another thread, which must live as long as the
// worker (PDEATHSIG is bound to it). Ownership: destroying a Cell ends the template and forks that nobody has
// collected; isolates live on. Errors: an Error of any method means that the cell is of no more use; it is
// destroyed and replaced.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "common/fd.h"
#include "common/result.h"
#include "common/sandbox_level.h"
#include "common/units.h"
#include "worker/cell/recipe.h"

namespace skerry::agent {

/// When to ask a cell again that had no room for another fork: one takes about as long, so there is by then.
inline constexpr Millis kAskAgainAfter{2};

/// What a cell hands out: the worker is the parent of `pid`.
struct ForkedProcess {
  std::shared_ptr<void> home;  ///< what it needs to live: its PID namespace; kept until it is reaped
  pid_t pid = -1;              ///< -1: it had died before its pid could be read
  Fd pidfd;
  Fd socket;  ///< SOCK_STREAM, non-blocking here; speaks common/wire/stream.h
};

/// Made by a process of a cell, which waits in it until it is killed; but for a fork, which may be let
/// happen.
struct ForbiddenCall {
  pid_t pid = -1;
  std::string name;  ///< of the system call
  /// The one way in which a cell that has evaluated a program can fork, exactly (DESIGN section 2: it is
  /// hostile, so that it forks only when it has been asked to).
  bool is_fork = false;
  std::uint64_t id = 0;  ///< the kernel's, of this report
};

/// Reports of forbidden system calls by one cell and its isolates, which outlive it.
class ForbiddenCalls {
 public:
  virtual ~ForbiddenCalls() = default;
  /// Readable: call Next. Hung up: none will come any more.
  virtual int fd() const = 0;
  /// The next one; nothing where its process has died meanwhile.
  virtual std::optional<ForbiddenCall> Next() = 0;
  /// Lets a fork happen. Nothing happens where its process has died meanwhile.
  virtual void LetFork(const ForbiddenCall& /*call*/) {}
};

/// The V8 that a cell's isolates are.
struct V8Build {
  std::string version;
  std::string flags;
};

/// Memory that libraries may take to be evaluated, beyond that of the cell that theirs is forked from: what
/// is set aside for it, and held as a job's memoryMb is, by RLIMIT_DATA (which leaves V8 the same margin) and
/// by looks from outside.
inline constexpr std::uint64_t kLibraryMb = 96;

class Cell;
/// What comes out of a cell: an isolate, or a cell that is being prepared.
using Forked = std::variant<ForkedProcess, std::unique_ptr<Cell>>;

class Cell {
 public:
  virtual ~Cell() = default;
  /// Once; null where the kernel does not report them.
  virtual std::unique_ptr<ForbiddenCalls> TakeForbiddenCalls() { return nullptr; }
  /// What holds its processes in: every mechanism, for the log.
  virtual std::string DescribeSandbox() const { return "none"; }
  /// What `strict` promises and it lacks: "no network, no files"; empty where nothing is missing.
  virtual std::string MissingFromSandbox() const { return ""; }
  virtual SandboxLevel sandbox_level() const { return SandboxLevel::kNone; }
  /// Readable: call OnReadable.
  virtual int control_fd() const = 0;
  virtual pid_t pid() const = 0;
  /// Of its process, which nobody else reaps; -1 where that is not known.
  virtual int pidfd() const { return -1; }
  virtual V8Build v8() const = 0;
  /// Asks for one isolate; never blocks. Not before IsReady.
  virtual Status RequestFork() = 0;
  /// Whether it can be asked for cells with a program: see cell::CanHoldPrograms.
  virtual bool KeepsPrograms() const { return false; }
  /// Asks for a cell that is forked from this one and does `recipe`; never blocks. It comes out in the order
  /// of the requests, not ready yet. One with a program has what RLIMIT_DATA allows its job, and so have its
  /// isolates.
  virtual Status RequestCell(std::shared_ptr<const cell::CellRecipe> /*recipe*/) {
    return Fail(ErrorKind::kUnavailable, "this cell makes no others");
  }
  /// Whether its recipe is done; OnReadable finds that out.
  virtual bool IsReady() const { return true; }
  /// A fork that it is in the middle of (ForbiddenCall::is_fork) is one that it was asked for: true once for
  /// each.
  virtual bool TakeForkPermit() { return false; }
  /// The next isolate or cell, nothing yet, or why there will be no more: kInvalid where its program cannot
  /// be kept evaluated, and has to be run from its beginning for every job.
  virtual Result<std::optional<Forked>> OnReadable() = 0;
};

/// Starts a cell and waits until it can fork (~100 ms).
using CellFactory = std::function<Result<std::unique_ptr<Cell>>()>;

/// Counts the cells of one worker, from 1.
using CellNumber = std::uint64_t;

}  // namespace skerry::agent
