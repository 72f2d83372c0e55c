// The worker's handle on a cell: starts the template process in its namespaces, asks it for forks, ends it.
//
//   auto cell = CellProcess::Start(options);     // blocks until the template is warm, ~100 ms
//   (*cell)->RequestFork();
//   ... control_fd() readable ...
//   auto forked = (*cell)->OnReadable();         // an IsolateProcess: pid, pidfd, socket
//
// A cell can be asked for another one, which is forked from it and does a recipe: has libraries loaded, or a
// tenant's program evaluated. That one comes out before it has begun, so that its limits can be set:
//
//   (*cell)->RequestCell(recipe);
//   ... control_fd() readable ...
//   auto derived = ...                           // a CellProcess: pid
//   prlimit(derived->pid(), ...)
//   derived->SendRecipe();
//   ... its control_fd() readable, OnReadable() gives nothing, until is_ready() ...
//
// The worker is the parent of all cells and of every isolate (DESIGN section 2), and an isolate outlives its
// cell. One that came out of another leads a process group of its own, which its forks leave when they are
// collected: what it cloned besides ends with it. A program cell is hostile: it forks only when the worker
// lets it (TakeForkPermit; forbidden_calls.h), and its forks are looked at before they are taken for such.
//
// Threads: one; call Start from a thread that lives as long as the process: PDEATHSIG follows the thread that
// started the child, not its process. Ownership: the destructor kills and reaps the cell, forks that nobody
// has collected, and what a cell out of another has not told of. Isolates live on: each holds a share of the
// PID namespace, whose init stub ends with the last of them. Errors: Start says what failed and on which
// step; OnReadable's error means that the cell is gone, or must be: kInvalid where its recipe cannot be done.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "common/fd.h"
#include "common/result.h"
#include "common/units.h"
#include "worker/cell/control.h"
#include "worker/cell/pid_namespace.h"
#include "worker/cell/recipe.h"
#include "worker/cell/sandbox_report.h"

namespace skerry::cell {

struct CellOptions {
  std::string program;                 ///< path of skerry-cell
  std::string jit = "maglev";          ///< full, maglev or none
  std::uint64_t max_memory_mb = 1024;  ///< the largest memoryMb its isolates can be given
  SandboxMode sandbox = SandboxMode::kStrict;
  /// Path of skerry-init; empty: beside `program`.
  std::string init_program;
  Millis start_timeout{10'000};
};

/// A forked, idle isolate, waiting on its socket for a job. Its owner kills and reaps it.
struct IsolateProcess {
  std::shared_ptr<PidNamespace> home;  ///< keep until reaped; null without namespaces
  pid_t pid = -1;                      ///< in the worker's PID namespace
  Fd pidfd;
  Fd socket;  ///< SOCK_STREAM, non-blocking here, blocking there; speaks common/wire/stream.h
};

class CellProcess;
/// What comes out of a cell.
using Forked = std::variant<IsolateProcess, std::unique_ptr<CellProcess>>;

class CellProcess {
 public:
  static Result<std::unique_ptr<CellProcess>> Start(const CellOptions& options);
  ~CellProcess();
  CellProcess(const CellProcess&) = delete;
  CellProcess& operator=(const CellProcess&) = delete;

  /// Readable when a fork is ready, or at EOF when the cell is gone.
  int control_fd() const { return control_.get(); }
  int pidfd() const { return pidfd_.get(); }
  pid_t pid() const { return pid_; }
  /// As the cell told it: "14.6.202.34-node.40".
  const std::string& v8_version() const { return v8_version_; }
  /// The same: "--single-threaded --no-expose-gc ...".
  const std::string& v8_flags() const { return v8_flags_; }
  /// Forks asked for in this cell's life.
  std::uint64_t forks() const { return forks_; }
  /// What holds it in.
  Mechanisms sandbox() const { return sandbox_; }
  /// Tells of forbidden system calls of this cell and its isolates, which outlive it: see forbidden_calls.h.
  /// Invalid where the kernel does not report them.
  Fd TakeForbiddenCalls() { return std::move(forbidden_calls_); }

  /// Whether its recipe is done, if it has one.
  bool is_ready() const { return ready_; }

  /// Asks for one fork; never blocks. Not before is_ready. Fails with kExhausted when too many requests or
  /// descriptors are on their way already, or this process has too many (ask again later), with another kind
  /// when the cell is gone.
  Status RequestFork();
  /// Asks for a cell that is forked from this one; as RequestFork. Fails with kInvalid where this cell, or
  /// what holds it in (CanHoldPrograms), does not allow such a recipe; the cell is well then.
  Status RequestCell(const CellRecipe& recipe);
  /// To a cell that has come out of another: begin. Its limits are set by now.
  Status SendRecipe();
  /// A clone that it is in the middle of is one that it was asked for: true once for each.
  bool TakeForkPermit();
  /// The next forked isolate or cell, nothing yet, or why there will be no more.
  Result<std::optional<Forked>> OnReadable();

 private:
  /// A fork asked for.
  struct Pending {
    Fd socket;  ///< our end
    /// Keeps a place for its pidfd: a descriptor that does not fit is lost, and with it the only hold on a
    /// process.
    Fd place;
    /// Of a cell, whose socket is a control socket.
    std::unique_ptr<CellProcess> cell;
  };

  CellProcess() = default;
  Status AwaitReady(Millis timeout);
  static Status NoDescriptor(const char* call);
  Fd KeepPlace() const;
  void OnReady(ControlPacket packet);
  std::string StderrTail() const;
  /// Asks for a fork that gets the other end of a socket of this type.
  Status Request(ControlByte what, int socket_type, std::unique_ptr<CellProcess> cell);
  Status OnRecipeDone(const ControlPacket& packet);
  Result<Forked> Collect(Fd pidfd);
  Status TakeOut(const Fd& pidfd, Result<pid_t> pid) const;
  /// The process group that isolates belong to.
  pid_t HomeGroup() const;
  void EndGroup();

  Fd control_;
  Fd pidfd_;
  std::shared_ptr<PidNamespace> home_;
  Mechanisms sandbox_;
  Fd forbidden_calls_;
  Fd stderr_;  // of the cell, until it is ready
  pid_t pid_ = -1;
  std::string v8_version_;
  std::string v8_flags_;
  std::uint64_t forks_ = 0;
  bool ready_ = true;
  bool holds_program_ = false;
  bool leads_group_ = false;
  std::size_t permits_ = 0;  // of forks asked for
  Fd recipe_;                // until it is sent
  std::uint32_t recipe_bytes_ = 0;
  std::deque<Pending> pending_;  // in order
};

}  // namespace skerry::cell
