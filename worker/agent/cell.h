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

#include "common/fd.h"
#include "common/result.h"
#include "common/sandbox_level.h"

namespace skerry::agent {

/// What a cell hands out: the worker is the parent of `pid`.
struct ForkedProcess {
  std::shared_ptr<void> home;  ///< what it needs to live: its PID namespace; kept until it is reaped
  pid_t pid = -1;              ///< -1: it had died before its pid could be read
  Fd pidfd;
  Fd socket;  ///< SOCK_STREAM, non-blocking here; speaks common/wire/stream.h
};

/// Made by a process of a cell, which waits in it until it is killed.
struct ForbiddenCall {
  pid_t pid = -1;
  std::string name;  ///< of the system call
};

/// Reports of forbidden system calls by one cell and its isolates, which outlive it.
class ForbiddenCalls {
 public:
  virtual ~ForbiddenCalls() = default;
  /// Readable: call Next. Hung up: none will come any more.
  virtual int fd() const = 0;
  /// The next one; nothing where its process has died meanwhile.
  virtual std::optional<ForbiddenCall> Next() = 0;
};

/// The V8 that a cell's isolates are.
struct V8Build {
  std::string version;
  std::string flags;
};

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
  virtual V8Build v8() const = 0;
  /// Asks for one isolate; never blocks.
  virtual Status RequestFork() = 0;
  /// The next isolate, nothing yet, or why there will be no more.
  virtual Result<std::optional<ForkedProcess>> OnReadable() = 0;
};

/// Starts a cell and waits until it can fork (~100 ms).
using CellFactory = std::function<Result<std::unique_ptr<Cell>>()>;

/// Counts the cells of one worker, from 1.
using CellNumber = std::uint64_t;

}  // namespace skerry::agent
