// The life of an isolate, from just after its fork to its exit: lock down, wait for a job, run it, tell,
// leave. Where the job asked for `reuse: "context"` and ended by itself it is made ready for another of its
// tenant's instead, and says so (CREDIT) once it is; that there is no other is the worker's to decide, which
// kills it.
//
// Threads: one. Ownership: never returns, never runs destructors of what the template owns.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/outcome.h"
#include "common/wire/messages.h"
#include "worker/cell/isolate_port.h"
#include "worker/cell/sandbox_report.h"

namespace skerry::cell {

/// Where an isolate finds its socket: the control socket's number, which it must not keep anyway.
inline constexpr int kJobFd = 3;

/// What an isolate does with its job. `payloads`: code and input.
using IsolateBody = std::function<Outcome(const wire::Dispatch& dispatch,
                                          const std::vector<std::string>& payloads, IsolatePort& port)>;

struct IsolateWork {
  /// Done while it waits for its job.
  std::function<void()> prepare = [] {};
  IsolateBody body;
  /// Makes it ready for another job; false: it cannot be. Without it there is no other.
  std::function<bool()> renew = [] { return false; };
};

/// `socket` is the isolate's end of its socket; every other descriptor but 0-2 is closed. `held`: by its
/// cell.
[[noreturn]] void RunIsolate(const IsolateWork& work, Mechanisms held, int socket);

}  // namespace skerry::cell
