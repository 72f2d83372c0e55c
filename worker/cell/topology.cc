#include "worker/cell/topology.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

#include "worker/cell/control.h"

namespace skerry::cell {
namespace {

// Steps a helper reports by, with a pidfd or with an errno; ControlByte carries it.
constexpr auto kInitStarted = ControlByte::kReady;
constexpr auto kCellStarted = ControlByte::kForked;
constexpr auto kStepFailed = ControlByte::kFailed;

struct Descriptors {
  int report;  // helper's end of the report socket
  int control;
  int error_output;
  int lifeline;  // the stub's end of its pipe
  int null;
};

// What follows up to SpawnCell runs in children of a process that may have other threads: async-signal-safe
// calls only.

long CloneBesideParent(int* pidfd) {
  return syscall(SYS_clone, CLONE_PARENT | CLONE_PIDFD | SIGCHLD, nullptr, pidfd, nullptr, nullptr);
}

void UnblockSignals() {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

// Everything in a namespace is in the process group of its init stub: the worker can then reap an isolate of
// which it never heard, because its cell was killed between the fork and the report of it.
void JoinStubsGroup() {
  constexpr int kTries = 1000;
  constexpr timespec kAMoment{0, 1'000'000};
  // The stub, which is PID 1 here, may not have made its group yet.
  for (int i = 0; i < kTries && getpid() != 1 && setpgid(0, 1) != 0; ++i) nanosleep(&kAMoment, nullptr);
}

[[noreturn]] void RunInitStub(const Descriptors& fds) {
  setpgid(0, 0);
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  // It is a fork of the worker: what the worker's memory holds is no business of anybody in this namespace.
  prctl(PR_SET_DUMPABLE, 0);
  dup2(fds.lifeline, 0);
  close_range(1, ~0u, 0);
  char byte = 0;
  // Nobody writes; the read ends when the worker closes the other end or dies, by SIGKILL too.
  while (read(0, &byte, 1) < 0 && errno == EINTR) {
  }
  _exit(0);
}

[[noreturn]] void ExecCell(char* const* argv, const Descriptors& fds) {
  // The sources may lie in 0..3 themselves, so move them out of the way first.
  const int control = fcntl(fds.control, F_DUPFD, 10);
  const int error_output = fcntl(fds.error_output, F_DUPFD, 10);
  const int null = fcntl(fds.null, F_DUPFD, 10);
  if (control < 0 || error_output < 0 || null < 0) _exit(126);
  dup2(null, 0);
  dup2(null, 1);
  dup2(error_output, 2);
  dup2(control, kControlFd);
  close_range(kControlFd + 1, ~0u, 0);
  UnblockSignals();
  signal(SIGPIPE, SIG_IGN);
  char* const environment[] = {nullptr};
  execve(argv[0], argv, environment);
  const char message[] = "cannot execute the cell program\n";
  if (write(2, message, sizeof(message) - 1) < 0) _exit(126);
  _exit(127);
}

// Clones one child beside the helper and reports its pidfd.
template <class Child>
void StartChild(ControlByte step, const Descriptors& fds, Child child) {
  int pidfd = -1;
  const long pid = CloneBesideParent(&pidfd);
  if (pid == 0) child();
  if (pid < 0) {
    SendControl(fds.report, kStepFailed, -1);
    _exit(1);
  }
  if (SendControl(fds.report, step, pidfd) != 0) _exit(1);
}

[[noreturn]] void RunHelper(char* const* argv, const Descriptors& fds) {
  if (unshare(CLONE_NEWUSER | CLONE_NEWPID) == 0) {
    StartChild(kInitStarted, fds, [&] { RunInitStub(fds); });
    StartChild(kCellStarted, fds, [&] {
      JoinStubsGroup();
      ExecCell(argv, fds);
    });
  } else {
    StartChild(kCellStarted, fds, [&] { ExecCell(argv, fds); });
  }
  _exit(0);
}

// Worker side again.

Status CollectReports(int report, SpawnedCell* spawned) {
  ControlPacket packet;
  for (;;) {
    const int error = ReceiveControl(report, &packet);
    if (error != 0) return FailErrno("starting a cell: its helper died", error);
    switch (packet.byte) {
      case kInitStarted:
        spawned->init_pidfd = std::move(packet.fd);
        break;
      case kCellStarted:
        spawned->pidfd = std::move(packet.fd);
        return {};
      default:
        return Fail(ErrorKind::kUnavailable,
                    "starting a cell: clone was refused; is the process limit reached?");
    }
  }
}

}  // namespace

Result<SpawnedCell> SpawnCell(const std::vector<std::string>& argv, int control_fd, int stderr_fd) {
  int report[2];
  int lifeline[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, report) != 0) return FailErrno("socketpair");
  const Fd report_ours(report[0]);
  Fd report_theirs(report[1]);
  if (pipe2(lifeline, O_CLOEXEC) != 0) return FailErrno("pipe2");
  Fd lifeline_theirs(lifeline[0]);
  Fd lifeline_ours(lifeline[1]);
  const Fd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null.valid()) return FailErrno("/dev/null");

  std::vector<char*> arguments;
  for (const std::string& argument : argv) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);

  const pid_t helper = fork();
  if (helper < 0) return FailErrno("fork");
  if (helper == 0) {
    RunHelper(arguments.data(),
              {report_theirs.get(), control_fd, stderr_fd, lifeline_theirs.get(), null.get()});
  }
  report_theirs.Reset();
  SpawnedCell spawned;
  spawned.lifeline = std::move(lifeline_ours);
  const Status status = CollectReports(report_ours.get(), &spawned);
  while (waitpid(helper, nullptr, 0) < 0 && errno == EINTR) {
  }
  if (!status) return Fail(status.error());
  return spawned;
}

}  // namespace skerry::cell
