#include "worker/cell/sandbox.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <fstream>
#include <functional>
#include <string>

#include "common/testing/proc_fs.h"

namespace skerry::cell {
namespace {

using testing::IsGone;
using testing::StatusField;

constexpr int kSetUpFailed = 99;
// Exit codes carry errno; 0 is success.
using Attempt = std::function<int()>;

constexpr timespec kAnHour{3600, 0};

int ErrnoOf(long result) {
  return result < 0 ? errno : 0;
}

enum class As : bool { kCell, kIsolate };

// How a process ended that locked itself down and then made one attempt. Nobody reads the listener here, so a
// call that the cell's filter forbids is answered ENOSYS; what the isolate's own filter forbids kills.
std::string EndOf(const Attempt& attempt, As as = As::kIsolate,
                  MachineCode machine_code = MachineCode::kMade) {
  const pid_t pid = fork();
  if (pid == 0) {
    auto locked = LockDownCell({SandboxMode::kStrict, Mechanisms(), machine_code});
    if (!locked) _exit(kSetUpFailed);
    locked->listener.Reset();
    if (as == As::kIsolate && LockDownIsolate(locked->mechanisms) != 0) _exit(kSetUpFailed);
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
            "ENOSYS");
  EXPECT_EQ(EndOf([] { return ErrnoOf(syscall(SYS_memfd_create, "x", 0)); }), "ENOSYS");
  EXPECT_EQ(EndOf([] { return ErrnoOf(syscall(SYS_unlink, "/tmp/x")); }), "ENOSYS");
}

TEST(Sandbox, RefusesTheNetwork) {
  EXPECT_EQ(EndOf([] { return ErrnoOf(socket(AF_INET, SOCK_STREAM, 0)); }), "ENOSYS");
  EXPECT_EQ(EndOf([] { return ErrnoOf(socket(AF_UNIX, SOCK_STREAM, 0)); }), "ENOSYS");
  EXPECT_EQ(EndOf([] { return ErrnoOf(connect(1, nullptr, 0)); }), "ENOSYS");
}

TEST(Sandbox, RefusesExecAndNewProcesses) {
  EXPECT_EQ(EndOf([] { return ErrnoOf(execl("/bin/true", "true", nullptr)); }), "ENOSYS");
  EXPECT_EQ(EndOf([] { return ErrnoOf(fork()); }),
            "killed");  // a clone, which the isolate's own filter forbids
  EXPECT_EQ(EndOf([] { return ErrnoOf(vfork()); }), "ENOSYS");
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
  EXPECT_EQ(EndOf(fork_an_isolate, As::kCell), "allowed");
  EXPECT_EQ(EndOf(fork_an_isolate), "killed");
  while (waitpid(-1, nullptr, 0) > 0) {
  }
}

TEST(Sandbox, RefusesForeignProcesses) {
  const pid_t parent = getpid();
  EXPECT_EQ(EndOf([=] { return ErrnoOf(kill(parent, 0)); }), "ENOSYS");
  EXPECT_EQ(EndOf([=] { return ErrnoOf(syscall(SYS_tgkill, parent, parent, 0)); }), "killed");
  EXPECT_EQ(EndOf([=] { return ErrnoOf(syscall(SYS_tgkill, parent, parent, SIGABRT)); }), "killed");
  EXPECT_EQ(EndOf([=] { return ErrnoOf(ptrace(PTRACE_ATTACH, parent, 0, 0)); }), "ENOSYS");
  EXPECT_EQ(EndOf([=] { return ErrnoOf(syscall(SYS_process_vm_readv, parent, nullptr, 0, nullptr, 0, 0)); }),
            "ENOSYS");
}

// An end by any other signal than abort's would pass for somebody else's doing, and be run again.
TEST(Sandbox, AnIsolateCannotEndItselfAsAStrangerWould) {
  EXPECT_EQ(EndOf([]() -> int { abort(); }), "signal " + std::to_string(SIGABRT));
  for (const int signal : {0, SIGKILL, SIGTERM, SIGUSR2, SIGSTOP, SIGRTMAX})
    EXPECT_EQ(EndOf([=] { return ErrnoOf(syscall(SYS_tgkill, getpid(), gettid(), signal)); }), "killed")
        << signal;
}

// A filter that is inherited cannot tell whose number a signal is for.
TEST(Sandbox, WhatAProgramCellForksAbortsByAnotherSignal) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer's runtime handles the signal that is to end it";
#endif
  const auto in_program_cell = [](const Attempt& attempt) {
    return [attempt] { return FilterProgramCell(3) == 0 ? attempt() : kSetUpFailed; };
  };
  EXPECT_EQ(EndOf(in_program_cell([]() -> int { abort(); }), As::kCell), "signal " + std::to_string(SIGSEGV));
  EXPECT_EQ(EndOf(in_program_cell([] { return ErrnoOf(syscall(SYS_tgkill, getpid(), gettid(), SIGABRT)); }),
                  As::kCell),
            "EPERM");
  EXPECT_EQ(EndOf(in_program_cell([] { return ErrnoOf(syscall(SYS_tgkill, getpid(), gettid(), SIGTERM)); }),
                  As::kCell),
            "killed");
}

TEST(Sandbox, AnIsolateCannotMakeOrPassDescriptorsOrChangeItsFilter) {
  EXPECT_EQ(EndOf([] { return ErrnoOf(dup2(0, 7)); }), "killed");
  EXPECT_EQ(EndOf([] { return ErrnoOf(dup(0)); }), "ENOSYS");
  EXPECT_EQ(EndOf([] { return ErrnoOf(syscall(SYS_sendmsg, 1, nullptr, 0)); }), "killed");
  EXPECT_EQ(EndOf([] { return ErrnoOf(syscall(SYS_recvmsg, 1, nullptr, 0)); }), "killed");
  EXPECT_EQ(EndOf([] { return ErrnoOf(syscall(SYS_seccomp, 1, 0, nullptr)); }), "killed");
  EXPECT_EQ(EndOf([] { return ErrnoOf(prctl(PR_SET_PDEATHSIG, 0)); }), "EPERM");
}

TEST(Sandbox, MakesMemoryExecutableOnlyForACompiler) {
  const auto map = [](int protection, int flags) {
    return [=] { return mmap(nullptr, 4096, protection, flags, -1, 0) == MAP_FAILED ? errno : 0; };
  };
  constexpr int kPrivate = MAP_PRIVATE | MAP_ANONYMOUS;
  EXPECT_EQ(EndOf(map(PROT_READ | PROT_WRITE, kPrivate)), "allowed");
  EXPECT_EQ(EndOf(map(PROT_READ | PROT_EXEC, kPrivate)), "allowed");
  EXPECT_EQ(EndOf(map(PROT_READ | PROT_EXEC, kPrivate), As::kIsolate, MachineCode::kNone), "ENOSYS");
  EXPECT_EQ(
      EndOf([] { return ErrnoOf(mprotect(nullptr, 4096, PROT_EXEC)); }, As::kIsolate, MachineCode::kNone),
      "ENOSYS");
  // Shared pages would escape the job's memory limit; huge and locked ones take from everybody.
  EXPECT_EQ(EndOf(map(PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS)), "ENOSYS");
  EXPECT_EQ(EndOf(map(PROT_READ | PROT_WRITE, kPrivate | MAP_HUGETLB)), "ENOSYS");
  EXPECT_EQ(EndOf(map(PROT_READ | PROT_WRITE, kPrivate | MAP_GROWSDOWN)), "ENOSYS");
}

TEST(Sandbox, NarrowsCallsByTheirArguments) {
  EXPECT_EQ(EndOf([] { return ErrnoOf(madvise(nullptr, 0, MADV_DONTNEED)); }), "allowed");
  EXPECT_EQ(EndOf([] { return ErrnoOf(madvise(nullptr, 0, MADV_MERGEABLE)); }), "ENOSYS");
  int word = 0;
  const auto futex = [&word](int call) {
    return [&word, call] { return ErrnoOf(syscall(SYS_futex, &word, call, 1, nullptr, nullptr, 0)); };
  };
  EXPECT_EQ(EndOf(futex(FUTEX_WAKE | FUTEX_PRIVATE_FLAG)), "allowed");
  EXPECT_EQ(EndOf(futex(FUTEX_LOCK_PI)), "ENOSYS");
  EXPECT_EQ(EndOf(futex(FUTEX_CMP_REQUEUE_PI)), "ENOSYS");
  EXPECT_EQ(EndOf([] { return ErrnoOf(prctl(PR_SET_NAME, "x")); }, As::kCell), "ENOSYS");
}

TEST(Sandbox, OffLocksNothingDown) {
  const pid_t pid = fork();
  if (pid == 0) {
    const auto locked = LockDownCell({SandboxMode::kOff, Mechanisms(), MachineCode::kMade});
    _exit(locked && locked->mechanisms.bits() == 0 && LockDownIsolate(locked->mechanisms) == 0 &&
                  open("/etc/passwd", O_RDONLY) >= 0
              ? 0
              : 1);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(Sandbox, TakesTheRightToAPriorityThatTheWorkerMayHave) {
  const pid_t pid = fork();
  if (pid == 0) {
    const rlimit wide{40, 40};
    if (geteuid() == 0 && (setrlimit(RLIMIT_NICE, &wide) != 0 || setrlimit(RLIMIT_RTPRIO, &wide) != 0))
      _exit(1);
    const auto locked = LockDownCell({SandboxMode::kBestEffort, Mechanisms(), MachineCode::kMade});
    if (!locked) _exit(1);
    for (;;) nanosleep(&kAnHour, nullptr);
  }
  const auto limit = [&](__rlimit_resource which) {
    rlimit value{1, 1};
    EXPECT_EQ(prlimit(pid, which, nullptr, &value), 0);
    return value.rlim_max;
  };
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (StatusField(pid, "Seccomp") != "2" && !IsGone(pid) && std::chrono::steady_clock::now() < end)
    sched_yield();
  EXPECT_EQ(limit(RLIMIT_NICE), 0u);
  EXPECT_EQ(limit(RLIMIT_RTPRIO), 0u);
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
}

TEST(Sandbox, LeavesNoPrivilegesAndSaysSo) {
  int ready[2];
  ASSERT_EQ(pipe2(ready, O_CLOEXEC), 0);
  const pid_t pid = fork();
  if (pid == 0) {
    auto locked = LockDownCell({});
    const std::uint32_t bits = locked ? locked->mechanisms.bits() : 0;
    if (write(ready[1], &bits, sizeof(bits)) != sizeof(bits)) _exit(1);
    for (;;) nanosleep(&kAnHour, nullptr);
  }
  std::uint32_t bits = 0;
  ASSERT_EQ(read(ready[0], &bits, sizeof(bits)), static_cast<ssize_t>(sizeof(bits)));
  EXPECT_TRUE(MissingFrom(Mechanisms(bits)).empty()) << Describe(Mechanisms(bits));
  for (const char* field : {"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"}) {
    if (geteuid() != 0 && std::string(field) == "CapBnd")
      continue;  // not an ordinary user's to drop, nor to use
    EXPECT_EQ(StatusField(pid, field), "0000000000000000") << field;
  }
  EXPECT_EQ(StatusField(pid, "NoNewPrivs"), "1");
  EXPECT_EQ(StatusField(pid, "Seccomp"), "2");
  std::ifstream score("/proc/" + std::to_string(pid) + "/oom_score_adj");
  int points = 0;
  score >> points;
  EXPECT_EQ(points, 800);
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
}

}  // namespace
}  // namespace skerry::cell
