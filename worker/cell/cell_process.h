// The worker's handle on a cell: starts the template process in its namespaces, asks it for forks, ends it.
//
//   auto cell = CellProcess::Start(options);     // blocks until the template is warm, ~100 ms
//   (*cell)->RequestFork();
//   ... control_fd() readable ...
//   auto isolate = (*cell)->OnReadable();        // pid, pidfd, socket
//
// The worker is the parent of the cell and of every isolate (DESIGN section 2), and an isolate outlives its
// cell.
//
// Threads: one; call Start from a thread that lives as long as the process: PDEATHSIG follows the thread that
// started the child, not its process. Ownership: the destructor kills and reaps the cell and forks that
// nobody has collected. Isolates live on: each holds a share of the PID namespace, whose init stub ends with
// the last of them. Errors: Start says what failed and on which step; OnReadable's error means the cell is
// gone.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "common/fd.h"
#include "common/result.h"
#include "common/units.h"
#include "worker/cell/control.h"
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

/// A cell's PID namespace, alive as long as its init stub. Destroy it only when every process in it has been
/// reaped: the kernel holds the stub's own end back until then (the destructor waits a moment, then leaves it
/// to that).
class PidNamespace {
 public:
  PidNamespace(Fd init_pidfd, Fd lifeline);
  ~PidNamespace();
  PidNamespace(const PidNamespace&) = delete;
  PidNamespace& operator=(const PidNamespace&) = delete;

 private:
  void ReapUnreported() const;

  Fd init_pidfd_;
  pid_t init_pid_ = -1;  // also its process group's, which everything in the namespace is in
  Fd lifeline_;          // the stub lives while this is open
};

/// A forked, idle isolate, waiting on its socket for a job. Its owner kills and reaps it.
struct IsolateProcess {
  std::shared_ptr<PidNamespace> home;  ///< keep until reaped; null without namespaces
  pid_t pid = -1;                      ///< in the worker's PID namespace
  Fd pidfd;
  Fd socket;  ///< SOCK_STREAM, non-blocking here, blocking there; speaks common/wire/stream.h
};

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

  /// Asks for one fork; never blocks. Fails with kExhausted when too many requests or descriptors are on
  /// their way already, or this process has too many (ask again later), with another kind when the cell is
  /// gone.
  Status RequestFork();
  /// The next forked isolate, nothing yet, or why there will be no more.
  Result<std::optional<IsolateProcess>> OnReadable();

 private:
  CellProcess() = default;
  Status AwaitReady(Millis timeout);
  static Status NoDescriptor(const char* call);
  Fd KeepPlace() const;
  void OnReady(ControlPacket packet);
  std::string StderrTail() const;

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
  /// A fork asked for.
  struct Pending {
    Fd socket;  ///< our end
    /// Keeps a place for its pidfd: a descriptor that does not fit is lost, and with it the only hold on a
    /// process.
    Fd place;
  };
  std::deque<Pending> pending_;  // in order
};

}  // namespace skerry::cell
