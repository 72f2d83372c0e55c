#include "worker/cell/cell_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "worker/cell/control.h"
#include "worker/cell/pidfd.h"
#include "worker/cell/recipe_codec.h"
#include "worker/cell/topology.h"
#include "worker/engine/unkeepable.h"

namespace skerry::cell {
namespace {

// A socket closes before its process is quite gone.
constexpr Millis kExitPatience{500};

std::string Beside(const std::string& program, const char* name) {
  return (std::filesystem::path(program).parent_path() / name).string();
}

Status SetNonBlocking(int fd) {
  const int flags = fcntl(fd, F_GETFL);
  if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0) return FailErrno("fcntl");
  return {};
}

/// At the beginning, where its reader will start: both share one offset.
Status WriteAll(int file, std::string_view bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t written = pwrite(file, bytes.data() + at, bytes.size() - at, static_cast<off_t>(at));
    if (written < 0 && errno != EINTR) return FailErrno("writing a recipe");
    if (written > 0) at += static_cast<std::size_t>(written);
  }
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
                  "the cell could not start, it " + HowItEnded(pidfd_.get(), kExitPatience) + StderrTail());
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
  EndGroup();
  KillAndReap(pidfd_.get());
  ControlPacket uncollected;
  while (control_.valid() && ReceiveControl(control_.get(), &uncollected) == 0) {
    // What a program cell sends may be anything, and forks have ended with their group.
    if (!leads_group_) KillAndReap(uncollected.fd.get());
  }
}

/// Ends what a cell that came out of another has cloned and not told of, or what nobody has collected: one
/// that is killed may have got no further than the clone, and a program cell may have hidden it. The group's
/// number is its own as long as anybody in it is not reaped, and a clone that was under way when the signal
/// came does not happen.
void CellProcess::EndGroup() {
  if (!leads_group_) return;
  kill(-pid_, SIGKILL);
  while (waitpid(-pid_, nullptr, 0) > 0 || errno == EINTR) {
  }
}

Status CellProcess::NoDescriptor(const char* call) {
  if (errno != EMFILE && errno != ENFILE) return FailErrno(call);
  return Fail(ErrorKind::kExhausted, "the worker has too few descriptors");
}

Fd CellProcess::KeepPlace() const {
  return Fd(fcntl(control_.get(), F_DUPFD_CLOEXEC, 0));
}

Status CellProcess::Request(ControlByte what, int socket_type, std::unique_ptr<CellProcess> cell) {
  if (!ready_) return Fail(ErrorKind::kInternal, "a cell that is not ready was asked for a fork");
  int pair[2];
  if (socketpair(AF_UNIX, socket_type | SOCK_CLOEXEC, 0, pair) != 0) return NoDescriptor("socketpair");
  Fd ours(pair[0]);
  const Fd theirs(pair[1]);
  Fd place = KeepPlace();
  if (!place.valid()) return NoDescriptor("fcntl");
  if (auto status = SetNonBlocking(ours.get()); !status) return status;
  const int error = SendControl(control_.get(), what, theirs.get());
  if (error == EAGAIN || error == ETOOMANYREFS)
    return Fail(ErrorKind::kExhausted, "the cell has enough to fork already");
  if (error != 0) return FailErrno("asking the cell for a fork", error);
  pending_.push_back({std::move(ours), std::move(place), std::move(cell)});
  ++permits_;
  ++forks_;
  return {};
}

Status CellProcess::RequestFork() {
  return Request(ControlByte::kFork, SOCK_STREAM, nullptr);
}

Status CellProcess::RequestCell(const CellRecipe& recipe) {
  if (holds_program_) return Fail(ErrorKind::kInvalid, "a cell that holds a program makes no other");
  if (recipe.program && !CanHoldPrograms(sandbox_))
    return Fail(ErrorKind::kInvalid, "no program is kept evaluated without call reports and a PID namespace");
  auto bytes = EncodeRecipe(recipe);
  if (!bytes) return Fail(bytes.error());
  auto cell = std::unique_ptr<CellProcess>(new CellProcess());
  cell->recipe_ = Fd(memfd_create("recipe", MFD_CLOEXEC));
  if (!cell->recipe_.valid()) return NoDescriptor("memfd_create");
  if (auto written = WriteAll(cell->recipe_.get(), *bytes); !written) return written;
  cell->recipe_bytes_ = static_cast<std::uint32_t>(bytes->size());
  cell->ready_ = false;
  cell->holds_program_ = recipe.program.has_value();
  cell->home_ = home_;
  cell->sandbox_ = sandbox_;
  cell->v8_version_ = v8_version_;
  cell->v8_flags_ = v8_flags_;
  return Request(ControlByte::kCell, SOCK_SEQPACKET, std::move(cell));
}

Status CellProcess::SendRecipe() {
  if (!recipe_.valid() || pid_ <= 0)
    return Fail(ErrorKind::kUnavailable, "the cell has ended before it began");
  // Before it can fork, or run anything of a program's.
  if (setpgid(pid_, pid_) != 0) return FailErrno("giving a cell a process group");
  leads_group_ = true;
  const int error = SendControl(control_.get(), ControlByte::kRecipe, recipe_.get(), recipe_bytes_);
  // Kept in here it would be memory that nobody counts.
  recipe_.Reset();
  if (error != 0) return FailErrno("giving a cell its recipe", error);
  return {};
}

bool CellProcess::TakeForkPermit() {
  if (!holds_program_ || permits_ == 0) return false;
  --permits_;
  return true;
}

Result<std::optional<Forked>> CellProcess::OnReadable() {
  ControlPacket packet;
  if (!pending_.empty()) pending_.front().place.Reset();
  const int error = ReceiveControl(control_.get(), &packet);
  if (error == EAGAIN) {
    if (!pending_.empty()) pending_.front().place = KeepPlace();
    return std::optional<Forked>();
  }
  if (error == EPIPE) {
    // How, its process tells in a moment.
    return Fail(ErrorKind::kUnavailable, ready_ ? "the cell is gone" : "the cell ended before it was ready");
  }
  if (error != 0) return FailErrno("reading from the cell", error);
  if (!ready_) {
    if (auto done = OnRecipeDone(packet); !done) return Fail(done.error());
    return std::optional<Forked>();
  }
  if (packet.byte == ControlByte::kFailed) return Fail(ErrorKind::kExhausted, "the cell could not fork");
  if (packet.byte != ControlByte::kForked || !packet.fd.valid() || pending_.empty()) {
    return Fail(ErrorKind::kInternal, "the cell sent what nobody asked for");
  }
  auto forked = Collect(std::move(packet.fd));
  if (!forked) return Fail(forked.error());
  return std::optional<Forked>(std::move(*forked));
}

Status CellProcess::OnRecipeDone(const ControlPacket& packet) {
  if (packet.byte == ControlByte::kReady && !packet.fd.valid()) {
    ready_ = true;
    return {};
  }
  if (packet.byte != ControlByte::kRefused)
    return Fail(ErrorKind::kInternal, "the cell sent what nobody asked for before it was ready");
  // A program cell's words are its program's.
  if (holds_program_ || packet.text().empty()) {
    const auto reason = static_cast<engine::Unkeepable>(std::min<std::uint32_t>(packet.number, UINT8_MAX));
    return Fail(ErrorKind::kInvalid, "the program cannot be kept evaluated: " + std::string(NameOf(reason)));
  }
  return Fail(ErrorKind::kInvalid, std::string(packet.text()));
}

Result<Forked> CellProcess::Collect(Fd pidfd) {
  Pending pending = std::move(pending_.front());
  pending_.pop_front();
  auto pid = PidOf(pidfd.get());
  if (leads_group_) {
    if (auto taken = TakeOut(pidfd, pid); !taken) return Fail(taken.error());
  }
  // Dead already: its socket and pidfd tell the owner so; a pid of -1 is never used for anything else.
  const pid_t known = pid ? *pid : -1;
  if (!pending.cell) return Forked(IsolateProcess{home_, known, std::move(pidfd), std::move(pending.socket)});
  pending.cell->control_ = std::move(pending.socket);
  pending.cell->pidfd_ = std::move(pidfd);
  pending.cell->pid_ = known;
  return Forked(std::move(pending.cell));
}

/// Who is in a cell's group, and is not the cell, is a clone of its that it has not told of yet:
/// nobody there can join another's, or send what it does not have. It leaves the group then, and does not end
/// with it.
Status CellProcess::TakeOut(const Fd& pidfd, Result<pid_t> pid) const {
  if (!pid || *pid == pid_ || !IsChild(pidfd.get()) || getpgid(*pid) != pid_)
    return Fail(ErrorKind::kInternal, "the cell sent what is no new isolate");
  if (setpgid(*pid, HomeGroup()) != 0) return FailErrno("taking an isolate out of its cell's process group");
  return {};
}

pid_t CellProcess::HomeGroup() const {
  return home_ && home_->group() > 0 ? home_->group() : getpgrp();
}

}  // namespace skerry::cell
