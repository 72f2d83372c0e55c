#include "worker/cell/pid_namespace.h"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <utility>

#include "worker/cell/pidfd.h"

namespace skerry::cell {

PidNamespace::PidNamespace(Fd init_pidfd, Fd lifeline)
    : init_pidfd_(std::move(init_pidfd)), lifeline_(std::move(lifeline)) {
  if (auto pid = PidOf(init_pidfd_.get())) init_pid_ = *pid;
}

/// Whoever had an owner is reaped by now; what is left in the group are forks that were never reported. As
/// long as the stub is not reaped the group's number is its own.
void PidNamespace::ReapUnreported() const {
  if (init_pid_ <= 0) return;
  for (pid_t reaped = 1; reaped > 0 && reaped != init_pid_;) reaped = waitpid(-init_pid_, nullptr, WNOHANG);
}

PidNamespace::~PidNamespace() {
  // Longer than any exit takes; a stub that lasts is held by a process that somebody still has to reap.
  constexpr int kPatienceMs = 200;
  constexpr int kStepMs = 2;
  lifeline_.Reset();
  syscall(SYS_pidfd_send_signal, init_pidfd_.get(), SIGKILL, nullptr, 0);
  pollfd ended{init_pidfd_.get(), POLLIN, 0};
  for (int waited = 0; waited < kPatienceMs && poll(&ended, 1, kStepMs) <= 0; waited += kStepMs) {
    ReapUnreported();
  }
  if (poll(&ended, 1, 0) > 0) KillAndReap(init_pidfd_.get());
}

}  // namespace skerry::cell
