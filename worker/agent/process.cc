#include "worker/agent/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <string>

#include "common/fd.h"

namespace skerry::agent {
namespace {

constexpr int kStepBack = 10;  // of nice: about a tenth of a neighbour's share
constexpr int kNicest = 19;

// Reads a small /proc file; `text` is terminated.
template <std::size_t N>
Status ReadProc(pid_t pid, const char* file, char (&text)[N]) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/%s", static_cast<int>(pid), file);
  const Fd fd(::open(path, O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return FailErrno(path);
  const ssize_t n = ::read(fd.get(), text, N - 1);
  if (n < 0) return FailErrno(path);
  text[n] = '\0';
  return {};
}

std::uint64_t PageBytes() {
  static const auto bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

std::uint64_t KibibytesOf(const char* status, const char* key) {
  const char* at = std::strstr(status, key);
  if (at == nullptr) return 0;
  std::uint64_t kib = 0;
  return std::sscanf(at + std::strlen(key), "%" SCNu64, &kib) == 1 ? kib : 0;
}

// As the kernel numbers them (include/linux/posix-timers_types.h). clock_getcpuclockid asks it first whether
// there is such a process, which clock_gettime says as well.
clockid_t CpuClockOf(pid_t pid) {
  constexpr unsigned kScheduledTime = 2;
  return static_cast<clockid_t>(~static_cast<unsigned>(pid) << 3 | kScheduledTime);
}

// glibc's waitid has no rusage; the kernel's fifth argument does.
std::optional<ExitStatus> Wait(int pidfd, int options = 0) {
  siginfo_t info{};
  struct rusage usage {};
  long rc = 0;
  do {
    rc = ::syscall(SYS_waitid, P_PIDFD, pidfd, &info, WEXITED | WNOHANG | options, &usage);
  } while (rc < 0 && errno == EINTR);
  // Not a child of ours (ECHILD): nothing is known of its end, but that it has come.
  ExitStatus status;
  status.signal = SIGKILL;
  if (rc < 0) return status;
  if (info.si_pid == 0) return std::nullopt;
  status.signal = info.si_code == CLD_EXITED ? 0 : info.si_status;
  status.code = info.si_code == CLD_EXITED ? info.si_status : 0;
  const auto micros = [](const timeval& t) { return Micros(t.tv_sec * 1'000'000LL + t.tv_usec); };
  status.cpu = micros(usage.ru_utime) + micros(usage.ru_stime);
  status.peak_resident = Bytes::KiB(static_cast<std::uint64_t>(usage.ru_maxrss));
  return status;
}

}  // namespace

Result<MemoryReading> ReadMemory(pid_t pid) {
  char text[256];
  if (auto read = ReadProc(pid, "statm", text); !read) return Fail(read.error());
  std::uint64_t resident = 0;
  std::uint64_t shared = 0;
  std::uint64_t data = 0;
  // size resident shared text lib data dt, in pages
  if (std::sscanf(text, "%*u %" SCNu64 " %" SCNu64 " %*u %*u %" SCNu64, &resident, &shared, &data) != 3) {
    return Fail(ErrorKind::kInternal, "/proc/" + std::to_string(pid) + "/statm is not as expected");
  }
  if (resident == 0) return Fail(ErrorKind::kUnavailable, "process " + std::to_string(pid) + " has ended");
  const auto bytes = [](std::uint64_t pages) { return Bytes(pages * PageBytes()); };
  return MemoryReading{bytes(resident), bytes(resident) - bytes(shared), bytes(data)};
}

Result<Bytes> ReadPrivateMemory(pid_t pid) {
  char text[4096];
  if (auto read = ReadProc(pid, "status", text); !read) return Fail(read.error());
  return Bytes::KiB(KibibytesOf(text, "\nRssAnon:") + KibibytesOf(text, "\nRssShmem:"));
}

std::optional<Bytes> ReadGrowth(pid_t pid, const MemoryReading& baseline, Bytes budget) {
  const auto memory = ReadMemory(pid);
  if (!memory) return std::nullopt;
  const Bytes growth = memory->resident - baseline.resident;
  if (growth <= budget) return growth;
  const auto own = ReadPrivateMemory(pid);
  if (!own) return std::nullopt;
  return *own - baseline.anonymous;
}

Result<Micros> ReadCpuTime(pid_t pid) {
  timespec time{};
  if (::clock_gettime(CpuClockOf(pid), &time) != 0) return FailErrno("clock_gettime");
  return Micros(time.tv_sec * 1'000'000LL + time.tv_nsec / 1000);
}

Result<Bytes> ReadPeakResident(pid_t pid) {
  char text[4096];
  if (auto read = ReadProc(pid, "status", text); !read) return Fail(read.error());
  const std::uint64_t kib = KibibytesOf(text, "\nVmHWM:");
  if (kib == 0) return Fail(ErrorKind::kUnavailable, "process " + std::to_string(pid) + " has ended");
  return Bytes::KiB(kib);
}

Status LimitData(pid_t pid, Bytes limit) {
  return LimitData(pid, limit, limit);
}

Status LimitData(pid_t pid, Bytes soft, Bytes hard) {
  const rlimit value{soft.count(), hard.count()};
  if (::prlimit(pid, RLIMIT_DATA, &value, nullptr) != 0) return FailErrno("prlimit(RLIMIT_DATA)");
  return {};
}

Status LimitDataForNow(pid_t pid, std::optional<Bytes> limit) {
  rlimit value{};
  if (::prlimit(pid, RLIMIT_DATA, nullptr, &value) != 0) return FailErrno("prlimit(RLIMIT_DATA)");
  value.rlim_cur = limit ? std::min<rlim_t>(limit->count(), value.rlim_max) : value.rlim_max;
  if (::prlimit(pid, RLIMIT_DATA, &value, nullptr) != 0) return FailErrno("prlimit(RLIMIT_DATA)");
  return {};
}

void LowerPriority(pid_t pid) {
  // From where it is, not from 0: a worker may be nice itself, and its isolates with it. Best effort: a
  // failure costs fairness between jobs, nothing else.
  const auto who = static_cast<id_t>(pid);
  errno = 0;
  const int now = ::getpriority(PRIO_PROCESS, who);
  if (now == -1 && errno != 0) return;
  ::setpriority(PRIO_PROCESS, who, std::min(now + kStepBack, kNicest));
}

void KillProcess(int pidfd) {
  ::syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, nullptr, 0);
}

std::optional<ExitStatus> TryReap(int pidfd) {
  return Wait(pidfd);
}

std::optional<ExitStatus> PeekExit(int pidfd) {
  return Wait(pidfd, WNOWAIT);
}

void ReapBlocking(int pidfd) {
  // Not a blocking waitid: the event loop has made the pidfd non-blocking, and then there is no such thing.
  while (!Wait(pidfd)) {
    pollfd ended{pidfd, POLLIN, 0};
    ::poll(&ended, 1, -1);
  }
}

}  // namespace skerry::agent
