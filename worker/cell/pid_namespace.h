// A cell's PID namespace, alive as long as its init stub.
//
// Everything in it is in the stub's process group, but for cells that came out of others (cell_process.h), so
// that forks which were never reported can be reaped.
//
// Threads: one. Ownership: destroy it only when every process in it has been reaped: the kernel holds the
// stub's own end back until then (the destructor waits a moment, then leaves it to that). Errors: none.
#pragma once

#include <sys/types.h>

#include "common/fd.h"

namespace skerry::cell {

class PidNamespace {
 public:
  PidNamespace(Fd init_pidfd, Fd lifeline);
  ~PidNamespace();
  PidNamespace(const PidNamespace&) = delete;
  PidNamespace& operator=(const PidNamespace&) = delete;

  /// The stub's process group; -1 where it is not known.
  pid_t group() const { return init_pid_; }

 private:
  void ReapUnreported() const;

  Fd init_pidfd_;
  pid_t init_pid_ = -1;
  Fd lifeline_;  // the stub lives while this is open
};

}  // namespace skerry::cell
