#include "worker/cell/sandbox.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <string>

namespace skerry::cell {
namespace {

constexpr int kSetUpFailed = 99;
// Exit codes carry errno; 0 is success.
using Attempt = std::function<int()>;

int ErrnoOf(long result) {
  return result < 0 ? errno : 0;
}

// How a process ended that locked itself down and then made one attempt.
std::string EndOf(const Attempt& attempt, bool as_isolate = true) {
  const pid_t pid = fork();
  if (pid == 0) {
    if (!LockDownCell() || (as_isolate && LockDownIsolate() != 0)) _exit(kSetUpFailed);
    _exit(attempt());
  }
  int status = 0;
  waitpid(pid, &status, 0);
  if (WIFSIGNALED(status))
    return WTERMSIG(status) == SIGSYS ? "killed" : "signal " + std::to_string(WTERMSIG(status));
  if (WEXITSTATUS(status) == 0) return "allowed";
  if (WEXITSTATUS(status) == kSetUpFailed) return "lock-down failed";
  return strerrorname_np(WEXITSTATUS(status));
}

TEST(Sandbox, AllowsWhatAnIsolateNeeds) {
  EXPECT_EQ(EndOf([] { return ErrnoOf(write(1, "", 0)); }), "allowed");
  EXPECT_EQ(EndOf([] { return std::string(100'000, 'x').size() == 100'000 ? 0 : 1; }), "allowed");
}

TEST(Sandbox, RefusesFiles) {
  EXPECT_EQ(EndOf([] { return ErrnoOf(open("/etc/passwd", O_RDONLY)); }), "EACCES");
  EXPECT_EQ(EndOf([] { return ErrnoOf(syscall(SYS_openat, AT_FDCWD, "/tmp/x", O_CREAT | O_WRONLY, 0600)); }),
            "EACCES");
  EXPECT_EQ(EndOf([] { return ErrnoOf(syscall(SYS_openat2, AT_FDCWD, "/etc/passwd", nullptr, 0)); }),
            "killed");
  EXPECT_EQ(EndOf([] { return ErrnoOf(syscall(SYS_memfd_create, "x", 0)); }), "killed");
  EXPECT_EQ(EndOf([] { return ErrnoOf(syscall(SYS_unlink, "/tmp/x")); }), "killed");
}

TEST(Sandbox, RefusesTheNetwork) {
  EXPECT_EQ(EndOf([] { return ErrnoOf(socket(AF_INET, SOCK_STREAM, 0)); }), "killed");
  EXPECT_EQ(EndOf([] { return ErrnoOf(socket(AF_UNIX, SOCK_STREAM, 0)); }), "killed");
  EXPECT_EQ(EndOf([] { return ErrnoOf(connect(1, nullptr, 0)); }), "killed");
}

TEST(Sandbox, RefusesExecAndNewProcesses) {
  EXPECT_EQ(EndOf([] { return ErrnoOf(execl("/bin/true", "true", nullptr)); }), "killed");
  EXPECT_EQ(EndOf([] { return ErrnoOf(fork()); }), "killed");
  EXPECT_EQ(EndOf([] { return ErrnoOf(vfork()); }), "killed");
  EXPECT_EQ(EndOf([] { return ErrnoOf(syscall(SYS_clone3, nullptr, 0)); }), "ENOSYS");
}

TEST(Sandbox, TheForkOfAnIsolateIsTheCellsAlone) {
  const Attempt fork_an_isolate = [] {
    int pidfd = -1;
    const long pid =
        syscall(SYS_clone, CLONE_PARENT | CLONE_PIDFD | SIGCHLD, nullptr, &pidfd, nullptr, nullptr);
    if (pid == 0) _exit(0);
    return ErrnoOf(pid);
  };
  EXPECT_EQ(EndOf(fork_an_isolate, /*as_isolate=*/false), "allowed");
  EXPECT_EQ(EndOf(fork_an_isolate), "killed");
  while (waitpid(-1, nullptr, 0) > 0) {
  }
}

TEST(Sandbox, RefusesForeignProcesses) {
  const pid_t parent = getpid();
  EXPECT_EQ(EndOf([=] { return ErrnoOf(kill(parent, 0)); }), "killed");
  EXPECT_EQ(EndOf([=] { return ErrnoOf(syscall(SYS_tgkill, parent, parent, 0)); }), "killed");
  EXPECT_EQ(EndOf([] { return ErrnoOf(syscall(SYS_tgkill, getpid(), gettid(), 0)); }), "allowed");
  EXPECT_EQ(EndOf([=] { return ErrnoOf(ptrace(PTRACE_ATTACH, parent, 0, 0)); }), "killed");
  EXPECT_EQ(EndOf([=] { return ErrnoOf(syscall(SYS_process_vm_readv, parent, nullptr, 0, nullptr, 0, 0)); }),
            "killed");
}

TEST(Sandbox, AnIsolateCannotMakeOrPassDescriptorsOrChangeItsFilter) {
  EXPECT_EQ(EndOf([] { return ErrnoOf(dup2(0, 7)); }), "killed");
  EXPECT_EQ(EndOf([] { return ErrnoOf(dup(0)); }), "killed");
  EXPECT_EQ(EndOf([] { return ErrnoOf(syscall(SYS_sendmsg, 1, nullptr, 0)); }), "killed");
  EXPECT_EQ(EndOf([] { return ErrnoOf(syscall(SYS_recvmsg, 1, nullptr, 0)); }), "killed");
  EXPECT_EQ(EndOf([] { return ErrnoOf(syscall(SYS_seccomp, 1, 0, nullptr)); }), "killed");
  EXPECT_EQ(EndOf([] { return ErrnoOf(prctl(PR_SET_PDEATHSIG, 0)); }), "EPERM");
}

TEST(Sandbox, GrantsNoNewPrivilegesAndNoCoreDumps) {
  const pid_t pid = fork();
  if (pid == 0) {
    // What prctl and getrlimit would say is asked before the filter refuses to answer.
    if (!LockDownCell()) _exit(kSetUpFailed);
    _exit(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 && prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0 ? 0 : 1);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace skerry::cell
