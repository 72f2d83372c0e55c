#include "worker/cell/pidfd.h"

#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <fstream>

namespace skerry::cell {
namespace {

// PIDFD_GET_INFO of Linux 6.13 (include/uapi/linux/pidfd.h), which Debian 12's headers do not have yet.
struct PidfdInfo {
  std::uint64_t mask = 1;  // PIDFD_INFO_PID
  std::uint64_t cgroup_id = 0;
  std::uint32_t pid = 0;  // as the caller's namespace numbers it
  std::uint32_t rest[11] = {};
};
static_assert(sizeof(PidfdInfo) == 64);
constexpr unsigned long kGetInfo = _IOWR(0xFF, 11, PidfdInfo);

}  // namespace

Result<pid_t> PidOf(int pidfd) {
  PidfdInfo told;
  if (ioctl(pidfd, kGetInfo, &told) == 0 && told.pid > 0) return static_cast<pid_t>(told.pid);
  // An older kernel; or it is no pidfd, or its process has ended, which this finds out as well.
  std::ifstream info("/proc/self/fdinfo/" + std::to_string(pidfd));
  std::string key;
  while (info >> key) {
    long pid = 0;
    if (key == "Pid:" && info >> pid && pid > 0) return static_cast<pid_t>(pid);
  }
  return Fail(ErrorKind::kUnavailable, "a process ended before its pid could be read");
}

bool IsChild(int pidfd) {
  siginfo_t info{};
  return waitid(P_PIDFD, static_cast<id_t>(pidfd), &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

std::string HowItEnded(int pidfd, Millis patience) {
  pollfd ended{pidfd, POLLIN, 0};
  siginfo_t info{};
  const bool known = poll(&ended, 1, static_cast<int>(patience.count())) > 0 &&
                     waitid(P_PIDFD, static_cast<id_t>(pidfd), &info, WEXITED | WNOWAIT | WNOHANG) == 0;
  if (!known || info.si_pid == 0) return "closed its socket";
  const bool exited = info.si_code == CLD_EXITED;
  return (exited ? "exited with status " : "was ended by signal ") + std::to_string(info.si_status);
}

void KillAndReap(int pidfd) {
  if (pidfd < 0) return;
  syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, nullptr, 0);
  siginfo_t info;
  while (waitid(P_PIDFD, static_cast<id_t>(pidfd), &info, WEXITED) < 0 &&
         (errno == EINTR || errno == EAGAIN)) {
    // An event loop has made it non-blocking, which waitid heeds.
    pollfd ended{pidfd, POLLIN, 0};
    if (errno == EAGAIN) poll(&ended, 1, -1);
  }
}

}  // namespace skerry::cell
