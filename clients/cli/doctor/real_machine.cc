#include "clients/cli/doctor/real_machine.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <thread>

#include "clients/cli/doctor/try_connect.h"
#include "clients/cpp/handshake.h"
#include "common/brokers/broker_watch.h"
#include "common/fd.h"

namespace skerry::cli::doctor {
namespace {

constexpr std::size_t kMaxText = 1u << 20;
constexpr Millis kTrialPatience{1'000};
constexpr Millis kLastWords{250};
// Kernel headers of Debian 12 know them; spelt out, since glibc wraps none.
constexpr unsigned kLandlockVersion = 1u << 0;

/// Reads what is there now. False: the end, or nothing more is wanted.
bool ReadSome(int fd, std::string& text) {
  char buffer[16 << 10];
  const ssize_t got = read(fd, buffer, sizeof buffer);
  if (got < 0) return errno == EINTR || errno == EAGAIN;
  if (got == 0) return false;
  if (text.size() < kMaxText) text.append(buffer, static_cast<std::size_t>(got));
  return true;
}

bool EndsBy(pid_t pid, TimePoint until, int& status) {
  do {
    if (waitpid(pid, &status, WNOHANG) == pid) return true;
    std::this_thread::sleep_for(Millis(2));
  } while (SteadyClock::now() < until);
  return false;
}

/// Reaps `pid` within `patience`; else ends its group, which may clean up first, and reaps it then.
std::optional<int> WaitFor(pid_t pid, Millis patience) {
  int status = 0;
  if (EndsBy(pid, SteadyClock::now() + patience, status)) return status;
  kill(-pid, SIGTERM);
  if (EndsBy(pid, SteadyClock::now() + kLastWords, status)) return std::nullopt;
  kill(-pid, SIGKILL);
  kill(pid, SIGKILL);
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return std::nullopt;
}

/// Runs `trial` in a child, since it changes its process for good. The child's exit status is the errno.
template <class Trial>
Answer InChild(Trial trial) {
  const pid_t pid = fork();
  if (pid < 0) return {errno, 0};
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    _exit(trial());
  }
  const auto status = WaitFor(pid, kTrialPatience);
  if (!status) return {ETIMEDOUT, 0};
  return {WIFEXITED(*status) ? WEXITSTATUS(*status) : EPERM, 0};
}

int TryNamespaces() {
  if (unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0) return errno;
  const pid_t pid = fork();
  if (pid < 0) return errno;
  if (pid == 0) _exit(0);
  int status = 0;
  return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : EPERM;
}

int TrySeccomp() {
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
  sock_filter allow[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog program{1, allow};
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0 ? 0 : errno;
}

int TryPidfdClone() {
  int pidfd = -1;
  const long pid = syscall(SYS_clone, CLONE_PIDFD | SIGCHLD, nullptr, &pidfd, nullptr, nullptr);
  if (pid < 0) return errno;
  if (pid == 0) _exit(0);
  waitpid(static_cast<pid_t>(pid), nullptr, 0);
  return pidfd >= 0 ? 0 : ENOSYS;
}

class Real : public Machine {
 public:
  std::optional<std::string> ReadFile(const std::string& path) override {
    const Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!fd.valid()) return std::nullopt;
    std::string text;
    char buffer[16 << 10];
    while (text.size() < kMaxText) {
      const ssize_t got = read(fd.get(), buffer, sizeof buffer);
      if (got < 0) return std::nullopt;
      if (got == 0) break;
      text.append(buffer, static_cast<std::size_t>(got));
    }
    return text;
  }

  std::vector<std::string> ListFolder(const std::string& path) override {
    std::vector<std::string> names;
    std::error_code error;
    for (auto it = std::filesystem::directory_iterator(path, error);
         !error && it != std::filesystem::directory_iterator(); it.increment(error)) {
      names.push_back(it->path().filename());
    }
    return names;
  }

  std::optional<std::string> ReadLink(const std::string& path) override {
    char target[PATH_MAX];
    const ssize_t size = readlink(path.c_str(), target, sizeof target);
    if (size < 0) return std::nullopt;
    return std::string(target, static_cast<std::size_t>(size));
  }

  bool CanWrite(const std::string& path) override { return access(path.c_str(), W_OK) == 0; }
  bool CanExecute(const std::string& path) override { return access(path.c_str(), X_OK) == 0; }

  std::optional<Bytes> FreeSpace(const std::string& path) override {
    struct statvfs space {};
    if (statvfs(path.c_str(), &space) != 0) return std::nullopt;
    return Bytes(std::uint64_t{space.f_bavail} * space.f_frsize);
  }

  std::optional<std::string> Variable(const std::string& name) override {
    const char* text = std::getenv(name.c_str());
    return text == nullptr ? std::nullopt : std::optional<std::string>(text);
  }

  std::string Architecture() override { return Name().machine; }
  std::string KernelRelease() override { return Name().release; }
  unsigned Cores() override { return std::max(1u, std::thread::hardware_concurrency()); }
  unsigned User() override { return geteuid(); }
  std::int64_t Time() override { return std::time(nullptr); }

  ResourceLimit LimitOf(Resource resource) override {
    rlimit limit{};
    const auto kind = resource == Resource::kDescriptors ? RLIMIT_NOFILE
                      : resource == Resource::kProcesses ? RLIMIT_NPROC
                                                         : RLIMIT_CORE;
    if (getrlimit(kind, &limit) != 0) return {};
    static_assert(RLIM_INFINITY == ResourceLimit::kUnlimited);
    return {limit.rlim_cur, limit.rlim_max};
  }

  Answer Try(Facility facility) override {
    switch (facility) {
      case Facility::kNamespaces:
        return InChild(&TryNamespaces);
      case Facility::kSeccompFilter:
        return InChild(&TrySeccomp);
      case Facility::kPidfdClone:
        return InChild(&TryPidfdClone);
      case Facility::kLandlock: {
        const long abi = syscall(SYS_landlock_create_ruleset, nullptr, 0, kLandlockVersion);
        return abi < 0 ? Answer{errno, 0} : Answer{0, abi};
      }
      case Facility::kPidfdOpen: {
        const Fd fd(static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0)));
        return {fd.valid() ? 0 : errno, 0};
      }
      case Facility::kClone3:
        // Without arguments: EINVAL where the call is there, ENOSYS or EPERM where it is not.
        return InChild([] { return syscall(SYS_clone3, nullptr, 0) < 0 && errno != EINVAL ? errno : 0; });
      case Facility::kCloseRange:
        return InChild([] { return close_range(3, ~0u, 0) == 0 ? 0 : errno; });
    }
    return {ENOSYS, 0};
  }

  Result<std::vector<std::string>> Resolve(const std::string& host, Millis patience) override {
    return RealLookups(patience).resolve(host);
  }
  Status TryHandshake(const keys::LinkSettings& at, keys::Role role, Millis patience) override {
    return client::TryHandshake(at, role, patience);
  }
  Status PingRedis(const std::string& endpoint, const RedisLogin& login, Millis patience) override {
    return doctor::PingRedis(endpoint, login, patience);
  }
  std::vector<int> Connect(const std::vector<std::string>& endpoints, Millis patience) override {
    return TryConnect(endpoints, patience);
  }

  Ran Run(const std::vector<std::string>& argv, const std::string& input, Millis patience) override {
    const TimePoint start = SteadyClock::now();
    Ran ran;
    int ends[3][2];
    for (auto& pair : ends) {
      if (pipe2(pair, O_CLOEXEC) != 0) return ran;  // out of descriptors: the few that leak end with us
    }
    Fd in(ends[0][1]);
    const Fd out(ends[1][0]);
    const Fd err(ends[2][0]);
    const pid_t pid = Spawn(argv, ends);
    for (const int theirs : {ends[0][0], ends[1][1], ends[2][1]}) close(theirs);
    if (pid < 0) return ran;
    (void)!write(in.get(), input.data(), input.size());  // short: fits into the pipe
    in.Reset();
    Collect(out.get(), err.get(), start + patience, ran);
    const auto left = std::chrono::duration_cast<Millis>(start + patience - SteadyClock::now());
    const auto status = WaitFor(pid, std::max(left, Millis(1)));
    ran.timed_out = !status;
    if (status && WIFEXITED(*status)) ran.status = WEXITSTATUS(*status);
    ran.took = std::chrono::duration_cast<Millis>(SteadyClock::now() - start);
    return ran;
  }

 private:
  static utsname Name() {
    utsname name{};
    uname(&name);
    return name;
  }

  static pid_t Spawn(const std::vector<std::string>& argv, const int (&ends)[3][2]) {
    std::vector<char*> arguments;
    for (const std::string& argument : argv) arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    const pid_t pid = fork();
    if (pid != 0) return pid;
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(ends[0][0], STDIN_FILENO);
    dup2(ends[1][1], STDOUT_FILENO);
    dup2(ends[2][1], STDERR_FILENO);
    execv(arguments[0], arguments.data());
    _exit(127);
  }

  /// Until both streams end, or the time is up.
  static void Collect(int out, int err, TimePoint until, Ran& ran) {
    pollfd streams[] = {{out, POLLIN, 0}, {err, POLLIN, 0}};
    while (streams[0].fd >= 0 || streams[1].fd >= 0) {
      const auto left = std::chrono::ceil<Millis>(until - SteadyClock::now());
      if (left <= Millis(0)) return;
      if (poll(streams, 2, static_cast<int>(left.count())) < 0 && errno != EINTR) return;
      if (streams[0].revents != 0 && !ReadSome(out, ran.out)) streams[0].fd = -1;
      if (streams[1].revents != 0 && !ReadSome(err, ran.err)) streams[1].fd = -1;
    }
  }
};

}  // namespace

std::unique_ptr<Machine> RealMachine() {
  return std::make_unique<Real>();
}

}  // namespace skerry::cli::doctor
