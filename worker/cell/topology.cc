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
#include "worker/cell/namespaces.h"

namespace skerry::cell {
namespace {

// Steps a helper reports by, with its namespaces, with a pidfd or with an errno; ControlByte carries it.
constexpr auto kUnshared = ControlByte::kHome;
constexpr auto kInitStarted = ControlByte::kReady;
constexpr auto kCellStarted = ControlByte::kForked;
constexpr auto kStepFailed = ControlByte::kFailed;

struct Programs {
  char* const* cell;  // argv
  char* const* init;
};

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

char* const kNoEnvironment[] = {nullptr};

// It is a fork of the worker until it execs: what the worker's memory holds (keys) must not stay in here.
[[noreturn]] void ExecInitStub(char* const* argv, const Descriptors& fds) {
  setpgid(0, 0);
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  prctl(PR_SET_DUMPABLE, 0);
  dup2(fds.lifeline, 0);
  close_range(1, ~0u, 0);
  execve(argv[0], argv, kNoEnvironment);
  _exit(127);
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
  execve(argv[0], argv, kNoEnvironment);
  const char message[] = "cannot execute the cell program\n";
  if (write(2, message, sizeof(message) - 1) < 0) _exit(126);
  _exit(127);
}

// Clones one child beside the helper and reports its pidfd.
template <class Child>
void StartChild(ControlByte step, Mechanisms held, const Descriptors& fds, Child child) {
  int pidfd = -1;
  const long pid = CloneBesideParent(&pidfd);
  if (pid == 0) child();
  if (pid < 0) {
    SendControl(fds.report, kStepFailed, -1);
    _exit(1);
  }
  if (SendControl(fds.report, step, pidfd, held.bits()) != 0) _exit(1);
}

[[noreturn]] void RunHelper(const Programs& programs, SandboxMode mode, const Descriptors& fds) {
  Mechanisms held = mode == SandboxMode::kOff ? Mechanisms() : UnshareNamespaces();
  ControlPacket go_on;
  // The worker writes this process's id maps before anything is started in the namespace.
  if (SendControl(fds.report, kUnshared, -1, held.bits()) != 0) _exit(1);
  if (ReceiveControl(fds.report, &go_on) != 0) _exit(1);
  if (held.Has(Mechanism::kPidNamespace)) {
    StartChild(kInitStarted, held, fds, [&] { ExecInitStub(programs.init, fds); });
  }
  // After the stub, which may still be on its way to its program when the cell empties its root.
  if (mode != SandboxMode::kOff) held = held | UnshareMounts();
  StartChild(kCellStarted, held, fds, [&] {
    if (held.Has(Mechanism::kPidNamespace)) JoinStubsGroup();
    ExecCell(programs.cell, fds);
  });
  _exit(0);
}

// Worker side again.

std::vector<char*> ToArgv(const std::vector<std::string>& arguments) {
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  return argv;
}

Status CollectReports(int report, pid_t helper, SpawnedCell* spawned) {
  ControlPacket packet;
  for (;;) {
    const int error = ReceiveControl(report, &packet);
    if (error != 0) return FailErrno("starting a cell: its helper died", error);
    switch (packet.byte) {
      case kUnshared:
        if (Mechanisms(packet.number).Has(Mechanism::kUserNamespace)) WriteIdMaps(helper);
        SendControl(report, kUnshared, -1);
        break;
      case kInitStarted:
        spawned->init_pidfd = std::move(packet.fd);
        break;
      case kCellStarted:
        spawned->namespaces = Mechanisms(packet.number);
        spawned->pidfd = std::move(packet.fd);
        return {};
      default:
        return Fail(ErrorKind::kUnavailable,
                    "starting a cell: clone was refused; is the process limit reached?");
    }
  }
}

}  // namespace

Result<SpawnedCell> SpawnCell(const CellCommand& command, int control_fd, int stderr_fd) {
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

  const std::vector<char*> cell_argv = ToArgv(command.argv);
  const std::vector<std::string> init = {command.init_program};
  const std::vector<char*> init_argv = ToArgv(init);
  const Programs programs{cell_argv.data(), init_argv.data()};
  const pid_t helper = fork();
  if (helper < 0) return FailErrno("fork");
  if (helper == 0) {
    RunHelper(programs, command.sandbox,
              {report_theirs.get(), control_fd, stderr_fd, lifeline_theirs.get(), null.get()});
  }
  report_theirs.Reset();
  SpawnedCell spawned;
  spawned.lifeline = std::move(lifeline_ours);
  const Status status = CollectReports(report_ours.get(), helper, &spawned);
  while (waitpid(helper, nullptr, 0) < 0 && errno == EINTR) {
  }
  if (!status) return Fail(status.error());
  return spawned;
}

}  // namespace skerry::cell
