#include "worker/cell/template_process.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <string>
#include <utility>

#include "worker/cell/control.h"
#include "worker/cell/derived_cell.h"
#include "worker/cell/syscall_filter.h"

namespace skerry::cell {
namespace {

constexpr int kCannotStart = 1;

// One thread more would leave its locks held for ever in every isolate.
bool IsSingleThreaded() {
  int threads = 0;
  std::error_code error;
  for (auto it = std::filesystem::directory_iterator("/proc/self/task", error);
       it != std::filesystem::directory_iterator(); it.increment(error)) {
    ++threads;
  }
  return threads == 1;
}

/// A cell, and what it has become.
struct Serving {
  const TemplateOptions& options;
  Mechanisms held;
  Holds holds = Holds::kNoTenantsCode;
};

[[noreturn]] void ForkOnRequest(const Serving& serving);

// Raw, since glibc's fork cannot make the worker the parent.
long Clone(Holds holds, int* pidfd) {
  const std::uint64_t flags = holds == Holds::kAProgram ? kReportedForkFlags : kForkFlags;
  return syscall(SYS_clone, flags, nullptr, pidfd, nullptr, nullptr);
}

void Report(long pid, int pidfd) {
  if (pid < 0) {
    SendControl(kControlFd, ControlByte::kFailed, -1, static_cast<std::uint32_t>(errno));
    return;
  }
  const Fd owned(pidfd);
  // ETOOMANYREFS: this user has too many descriptors on their way; it ends when their receivers have read.
  int error = 0;
  while ((error = SendControl(kControlFd, ControlByte::kForked, owned.get())) == ETOOMANYREFS) {
    const timespec a_moment{0, 1'000'000};
    nanosleep(&a_moment, nullptr);
  }
  if (error != 0) _exit(0);
}

void ForkIsolate(const Serving& serving, const Fd& socket) {
  int pidfd = -1;
  const long pid = Clone(serving.holds, &pidfd);
  if (pid == 0) RunIsolate(serving.options.isolate, serving.held, socket.get());
  Report(pid, pidfd);
}

void ForkCell(const Serving& serving, const Fd& control) {
  int pidfd = -1;
  const long pid = Clone(serving.holds, &pidfd);
  if (pid == 0) {
    const Holds holds = DoRecipe(serving.options, serving.held, control.get());
    ForkOnRequest({serving.options, serving.held, holds});
  }
  Report(pid, pidfd);
}

[[noreturn]] void ForkOnRequest(const Serving& serving) {
  for (;;) {
    ControlPacket packet;
    // Any error means that the worker has gone.
    if (ReceiveControl(kControlFd, &packet) != 0) _exit(0);
    if (!packet.fd.valid()) continue;
    if (packet.byte == ControlByte::kFork) ForkIsolate(serving, packet.fd);
    if (packet.byte == ControlByte::kCell && serving.holds == Holds::kNoTenantsCode)
      ForkCell(serving, packet.fd);
  }
}

}  // namespace

int Complain(std::string_view message) {
  std::fprintf(stderr, "skerry-cell: %.*s\n", static_cast<int>(message.size()), message.data());
  return kCannotStart;
}

bool StartedByWorker() {
  return fcntl(kControlFd, F_GETFD) >= 0;
}

int ServeAsTemplate(const TemplateOptions& options) {
  ControlPacket home;
  if (ReceiveControl(kControlFd, &home) != 0 || home.byte != ControlByte::kHome) return kCannotStart;
  if (!IsSingleThreaded()) return Complain("something has started a thread; the cell cannot be forked");
  const std::string v8 = std::string(options.v8_version) + " " + std::string(options.v8_flags);
  if (v8.size() > kMaxControlText) return Complain("V8's version and flags are too long to be told");
  auto locked = LockDownCell({options.sandbox, Mechanisms(home.number), options.machine_code});
  if (!locked) return Complain(locked.error().message);
  options.settle();
  if (SendControl(kControlFd, ControlByte::kReady, locked->listener.get(), locked->mechanisms.bits(), v8) !=
      0) {
    return kCannotStart;
  }
  // The worker has it; kept here every isolate would have it to close.
  locked->listener.Reset();
  ForkOnRequest({options, locked->mechanisms});
}

}  // namespace skerry::cell
