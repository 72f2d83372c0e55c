#include "tests/support/child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>

namespace skerry::testing {
namespace {

void Redirect(const char* path, int flags, int target) {
  const int fd = open(path, flags, 0600);
  if (fd < 0 || dup2(fd, target) < 0) _exit(126);
  if (fd != target) close(fd);
}

// Between fork and exec: async-signal-safe calls only, as the test may have threads.
[[noreturn]] void Execute(char* const* argv, const char* in, const char* out, const char* err, pid_t parent) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(125);  // the parent went before the line above
  Redirect(in, O_RDONLY, 0);
  Redirect(out, O_WRONLY | O_CREAT | O_APPEND, 1);
  Redirect(err, O_WRONLY | O_CREAT | O_APPEND, 2);
  execv(argv[0], argv);
  _exit(127);
}

}  // namespace

Child::Child(const std::vector<std::string>& argv, const ChildStreams& streams) {
  std::vector<char*> pointers;
  for (const auto& word : argv) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ < 0) throw std::runtime_error("fork failed");
  if (pid_ == 0) {
    Execute(pointers.data(), streams.stdin_path.c_str(), streams.stdout_path.c_str(),
            streams.stderr_path.c_str(), parent);
  }
  setpgid(pid_, pid_);  // in both, so that neither side races
  pidfd_ = Fd(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
}

Child::~Child() {
  kill(-pid_, SIGKILL);  // safe: the child is not reaped yet, so its group's number is still its own
  waitpid(pid_, nullptr, 0);
}

bool Child::IsRunning() {
  return !Wait(std::chrono::milliseconds(0));
}

void Child::Signal(int signal) {
  if (!ended_) kill(pid_, signal);
}

std::optional<int> Child::Wait(std::chrono::milliseconds patience) {
  if (ended_) return ended_;
  pollfd ready{pidfd_.get(), POLLIN, 0};
  if (poll(&ready, 1, static_cast<int>(patience.count())) <= 0) return std::nullopt;
  siginfo_t info{};
  if (waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT) != 0) return std::nullopt;
  ended_ = info.si_code == CLD_EXITED ? info.si_status : -info.si_status;
  return ended_;
}

}  // namespace skerry::testing
