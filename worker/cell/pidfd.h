// Children by their pidfds, which name a process for as long as it is not reaped, and nobody else ever after.
//
// Threads: pure system calls, any thread. Ownership: descriptors are borrowed.
#pragma once

#include <sys/types.h>

#include <string>

#include "common/result.h"
#include "common/units.h"

namespace skerry::cell {

/// The pid behind a pidfd as this process sees it: a cell only knows its own namespace's number. Fails for
/// what is no pidfd, or of a process that is reaped.
Result<pid_t> PidOf(int pidfd);
/// Whether it is a child of ours that is not reaped yet.
bool IsChild(int pidfd);
/// "exited with status 2": without reaping it. Waits up to `patience` for it.
std::string HowItEnded(int pidfd, Millis patience);
/// Harmless where it is not valid, not a pidfd, or not a child.
void KillAndReap(int pidfd);

}  // namespace skerry::cell
