#include "worker/cell/cell_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "worker/cell/control.h"
#include "worker/cell/topology.h"

namespace skerry::cell {
namespace {

// The pid behind a pidfd as this process sees it: the cell only knows its own namespace's number.
Result<pid_t> PidOf(int pidfd) {
  std::ifstream info("/proc/self/fdinfo/" + std::to_string(pidfd));
  std::string key;
  while (info >> key) {
    long pid = 0;
    if (key == "Pid:" && info >> pid && pid > 0) return static_cast<pid_t>(pid);
  }
  return Fail(ErrorKind::kUnavailable, "a process ended before its pid could be read");
}

// Without reaping it; waits a moment, since a socket closes before its process is quite gone.
std::string HowItEnded(const Fd& pidfd) {
  constexpr int kPatienceMs = 500;
  pollfd ended{pidfd.get(), POLLIN, 0};
  siginfo_t info{};
  const bool known = poll(&ended, 1, kPatienceMs) > 0 &&
                     waitid(P_PIDFD, static_cast<id_t>(pidfd.get()), &info, WEXITED | WNOWAIT | WNOHANG) == 0;
  if (!known || info.si_pid == 0) return "closed its socket";
  const bool exited = info.si_code == CLD_EXITED;
  return (exited ? "exited with status " : "was ended by signal ") + std::to_string(info.si_status);
}

void KillAndReap(const Fd& pidfd) {
  if (!pidfd.valid()) return;
  syscall(SYS_pidfd_send_signal, pidfd.get(), SIGKILL, nullptr, 0);
  siginfo_t info;
  while (waitid(P_PIDFD, static_cast<id_t>(pidfd.get()), &info, WEXITED) < 0 && errno == EINTR) {
  }
}

std::string Beside(const std::string& program, const char* name) {
  return (std::filesystem::path(program).parent_path() / name).string();
}

Status SetNonBlocking(int fd) {
  const int flags = fcntl(fd, F_GETFL);
  if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0) return FailErrno("fcntl");
  return {};
}

}  // namespace

Result<std::unique_ptr<CellProcess>> CellProcess::Start(const CellOptions& options) {
  int control[2];
  int errors[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control) != 0) return FailErrno("socketpair");
  Fd control_theirs(control[1]);
  auto cell = std::unique_ptr<CellProcess>(new CellProcess());
  cell->control_ = Fd(control[0]);
  if (auto status = SetNonBlocking(cell->control_.get()); !status) return Fail(status.error());
  if (pipe2(errors, O_CLOEXEC | O_NONBLOCK) != 0) return FailErrno("pipe2");
  cell->stderr_ = Fd(errors[0]);
  Fd errors_theirs(errors[1]);

  CellCommand command;
  command.argv = {options.program, options.jit, std::to_string(options.max_memory_mb),
                  std::string(NameOf(options.sandbox))};
  command.init_program =
      options.init_program.empty() ? Beside(options.program, "skerry-init") : options.init_program;
  command.sandbox = options.sandbox;
  for (const auto& program : {options.program, command.init_program}) {
    if (access(program.c_str(), X_OK) != 0) return FailErrno("cannot execute the cell program " + program);
  }
  auto spawned = SpawnCell(command, control_theirs.get(), errors_theirs.get());
  if (!spawned) return Fail(spawned.error());
  SendControl(cell->control_.get(), ControlByte::kHome, -1, spawned->namespaces.bits());
  // Kept open here they would hide the cell's end.
  control_theirs.Reset();
  errors_theirs.Reset();
  cell->pidfd_ = std::move(spawned->pidfd);
  if (spawned->init_pidfd.valid()) {
    cell->home_ =
        std::make_shared<PidNamespace>(std::move(spawned->init_pidfd), std::move(spawned->lifeline));
  }
  if (auto status = cell->AwaitReady(options.start_timeout); !status) return Fail(status.error());
  auto pid = PidOf(cell->pidfd_.get());
  if (!pid) return Fail(pid.error());
  cell->pid_ = *pid;
  cell->stderr_.Reset();
  return cell;
}

Status CellProcess::AwaitReady(Millis timeout) {
  const TimePoint end = SteadyClock::now() + timeout;
  for (;;) {
    const auto left = std::chrono::duration_cast<Millis>(end - SteadyClock::now()).count();
    if (left <= 0)
      return Fail(ErrorKind::kUnavailable, "the cell was not ready within its start timeout" + StderrTail());
    pollfd fds[] = {{control_.get(), POLLIN, 0}, {pidfd_.get(), POLLIN, 0}};
    if (poll(fds, 2, static_cast<int>(left)) < 0 && errno != EINTR) return FailErrno("poll");
    ControlPacket packet;
    const int error = ReceiveControl(control_.get(), &packet);
    if (error == 0 && packet.byte == ControlByte::kReady) {
      OnReady(std::move(packet));
      return {};
    }
    if (error != EAGAIN && error != 0) {
      return Fail(ErrorKind::kUnavailable,
                  "the cell could not start, it " + HowItEnded(pidfd_) + StderrTail());
    }
  }
}

void CellProcess::OnReady(ControlPacket packet) {
  sandbox_ = Mechanisms(packet.number);
  const std::string_view v8 = packet.text();
  const std::size_t version_end = std::min(v8.find(' '), v8.size());
  v8_version_ = v8.substr(0, version_end);
  v8_flags_ = v8.substr(std::min(version_end + 1, v8.size()));
  forbidden_calls_ = std::move(packet.fd);
}

std::string CellProcess::StderrTail() const {
  char text[4096];
  const ssize_t got = read(stderr_.get(), text, sizeof(text));
  if (got <= 0) return "";
  std::string tail(text, static_cast<std::size_t>(got));
  while (!tail.empty() && tail.back() == '\n') tail.pop_back();
  return ": " + tail;
}

CellProcess::~CellProcess() {
  KillAndReap(pidfd_);
  ControlPacket uncollected;
  while (control_.valid() && ReceiveControl(control_.get(), &uncollected) == 0) KillAndReap(uncollected.fd);
}

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
  if (poll(&ended, 1, 0) > 0) KillAndReap(init_pidfd_);
}

Status CellProcess::NoDescriptor(const char* call) {
  if (errno != EMFILE && errno != ENFILE) return FailErrno(call);
  return Fail(ErrorKind::kExhausted, "the worker has too few descriptors");
}

Fd CellProcess::KeepPlace() const {
  return Fd(fcntl(control_.get(), F_DUPFD_CLOEXEC, 0));
}

Status CellProcess::RequestFork() {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return NoDescriptor("socketpair");
  Fd ours(pair[0]);
  const Fd theirs(pair[1]);
  Fd place = KeepPlace();
  if (!place.valid()) return NoDescriptor("fcntl");
  if (auto status = SetNonBlocking(ours.get()); !status) return status;
  const int error = SendControl(control_.get(), ControlByte::kFork, theirs.get());
  if (error == EAGAIN || error == ETOOMANYREFS)
    return Fail(ErrorKind::kExhausted, "the cell has enough to fork already");
  if (error != 0) return FailErrno("asking the cell for a fork", error);
  pending_.push_back({std::move(ours), std::move(place)});
  ++forks_;
  return {};
}

Result<std::optional<IsolateProcess>> CellProcess::OnReadable() {
  ControlPacket packet;
  if (!pending_.empty()) pending_.front().place.Reset();
  const int error = ReceiveControl(control_.get(), &packet);
  if (error == EAGAIN) {
    if (!pending_.empty()) pending_.front().place = KeepPlace();
    return std::optional<IsolateProcess>();
  }
  if (error == EPIPE) return Fail(ErrorKind::kUnavailable, "the cell is gone");
  if (error != 0) return FailErrno("reading from the cell", error);
  if (packet.byte == ControlByte::kFailed) return Fail(ErrorKind::kExhausted, "the cell could not fork");
  if (packet.byte != ControlByte::kForked || !packet.fd.valid() || pending_.empty()) {
    return Fail(ErrorKind::kInternal, "the cell sent what nobody asked for");
  }
  IsolateProcess isolate;
  isolate.home = home_;
  isolate.pidfd = std::move(packet.fd);
  isolate.socket = std::move(pending_.front().socket);
  pending_.pop_front();
  auto pid = PidOf(isolate.pidfd.get());
  // Dead already: its socket and pidfd tell the owner so; a pid of -1 is never used for anything else.
  isolate.pid = pid ? *pid : -1;
  return std::optional<IsolateProcess>(std::move(isolate));
}

}  // namespace skerry::cell
