#include "worker/cell/fork_start.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace skerry::cell {

void BeginFork(int socket, int number) {
  if (dup2(socket, number) < 0 || close_range(static_cast<unsigned>(number) + 1, ~0u, 0) != 0)
    _exit(kLockDownFailed);
  // Cleared by the fork. A worker that died in between is noticed at the read, as EOF.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
}

}  // namespace skerry::cell
