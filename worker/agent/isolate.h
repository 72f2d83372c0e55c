// A forked isolate as the worker holds it.
//
// Threads: the event loop's.
// Ownership: the Isolate owns the process: one that is destroyed unreaped is killed and reaped then.
// Errors: see process.h.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "worker/agent/cell.h"
#include "worker/agent/process.h"

namespace skerry::agent {

class Isolate {
 public:
  Isolate(ForkedProcess process, CellNumber cell, std::shared_ptr<const V8Build> v8)
      : process_(std::move(process)), cell_(cell), v8_(std::move(v8)) {}
  ~Isolate();
  Isolate(Isolate&&) noexcept = default;  // the source holds no process any more
  Isolate& operator=(Isolate&&) = delete;
  Isolate(const Isolate&) = delete;

  pid_t pid() const { return process_.pid; }
  int pidfd() const { return process_.pidfd.get(); }
  int socket() const { return process_.socket.get(); }
  CellNumber cell() const { return cell_; }
  const V8Build& v8() const { return *v8_; }

  /// SIGKILL. Harmless when it has ended already.
  void Kill() const;
  /// How it ended, once it has; it is reaped then, and pid() names nothing any more.
  std::optional<ExitStatus> TryReap();

 private:
  ForkedProcess process_;  // its home is let go after the reaping
  CellNumber cell_;
  std::shared_ptr<const V8Build> v8_;  // null in tests that ask for none
  bool reaped_ = false;
};

}  // namespace skerry::agent
