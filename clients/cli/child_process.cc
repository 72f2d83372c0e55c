#include "clients/cli/child_process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <thread>
#include <utility>

#include "common/fd.h"

namespace skerry::cli {
namespace {

constexpr Millis kReapInterval{5};

/// In the child: everything that must hold before the program runs. Only async-signal-safe calls.
[[noreturn]] void Become(const char* program, char* const* arguments, char* const* environment, Stdout out,
                         pid_t parent, int report) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);  // we were orphaned before the line above
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  signal(SIGPIPE, SIG_DFL);
  const int null = open("/dev/null", O_RDWR);
  if (null >= 0) dup2(null, STDIN_FILENO);
  dup2(out == Stdout::kNowhere && null >= 0 ? null : STDERR_FILENO, STDOUT_FILENO);
  execve(program, arguments, environment);
  const int error_number = errno;
  (void)!write(report, &error_number, sizeof error_number);
  _exit(127);
}

std::vector<char*> EnvironmentOf(Surroundings surroundings) {
  static char no_file[] = "SKERRY_CONFIG=";
  std::vector<char*> variables;
  for (char** at = environ; *at != nullptr; ++at) {
    const std::string_view variable(*at);
    const bool sets_a_pool = variable.starts_with("SKERRY_CONFIG=") ||
                             variable.starts_with("SKERRY_BROKER_") || variable.starts_with("SKERRY_WORKER_");
    if (surroundings == Surroundings::kInherited || !sets_a_pool) variables.push_back(*at);
  }
  if (surroundings == Surroundings::kPrivate) variables.push_back(no_file);
  variables.push_back(nullptr);
  return variables;
}

}  // namespace

Result<ChildProcess> ChildProcess::Start(const std::string& program,
                                         const std::vector<std::string>& arguments, Surroundings surroundings,
                                         Stdout out) {
  std::vector<char*> argv = {const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const std::vector<char*> variables = EnvironmentOf(surroundings);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return FailErrno("pipe");
  Fd report_read(ends[0]);
  Fd report_write(ends[1]);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) return FailErrno("fork");
  if (pid == 0) Become(program.c_str(), argv.data(), variables.data(), out, parent, report_write.get());
  report_write.Reset();
  // Closed by a successful exec; else it brings errno.
  int error_number = 0;
  if (read(report_read.get(), &error_number, sizeof error_number) == sizeof error_number) {
    waitpid(pid, nullptr, 0);
    return Fail(ErrorKind::kUnavailable, "cannot run " + program + ": " + std::strerror(error_number));
  }
  return ChildProcess(program, pid);
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : program_(std::move(other.program_)),
      pid_(std::exchange(other.pid_, -1)),
      ended_(std::move(other.ended_)),
      exit_status_(other.exit_status_),
      terminated_(other.terminated_) {}

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  if (this != &other) {
    Stop(Millis(0));
    program_ = std::move(other.program_);
    pid_ = std::exchange(other.pid_, -1);
    ended_ = std::move(other.ended_);
    exit_status_ = other.exit_status_;
    terminated_ = other.terminated_;
  }
  return *this;
}

std::optional<std::string> ChildProcess::Ended() {
  if (pid_ < 0) return ended_;
  int status = 0;
  if (waitpid(pid_, &status, WNOHANG) != pid_) return std::nullopt;
  pid_ = -1;
  if (WIFEXITED(status)) exit_status_ = WEXITSTATUS(status);
  ended_ = WIFSIGNALED(status) ? "was killed by signal " + std::to_string(WTERMSIG(status))
                               : "exited with status " + std::to_string(WEXITSTATUS(status));
  return ended_;
}

void ChildProcess::Terminate() {
  if (pid_ < 0 || terminated_) return;
  terminated_ = true;
  kill(pid_, SIGTERM);
}

void ChildProcess::Urge() {
  if (pid_ >= 0 && terminated_) kill(pid_, SIGTERM);
}

bool ChildProcess::EndsWithin(Millis time) {
  for (const TimePoint until = SteadyClock::now() + time; !Ended();) {
    if (SteadyClock::now() >= until) return false;
    std::this_thread::sleep_for(kReapInterval);
  }
  return true;
}

void ChildProcess::Stop(Millis grace) {
  if (pid_ < 0 || Ended()) return;
  if (grace > Millis(0)) {
    Terminate();
    if (EndsWithin(grace / 2)) return;
    Urge();
    if (EndsWithin(grace / 2)) return;
  }
  kill(pid_, SIGKILL);
  EndsWithin(Millis(60'000));  // only a process stuck in the kernel is not reaped at once
}

void StopTogether(const std::vector<ChildProcess*>& children, Millis grace) {
  const auto all_end_by = [&](TimePoint until) {
    for (ChildProcess* child : children) {
      while (!child->Ended() && SteadyClock::now() < until) std::this_thread::sleep_for(kReapInterval);
    }
  };
  const TimePoint start = SteadyClock::now();
  for (ChildProcess* child : children) child->Terminate();
  all_end_by(start + grace / 2);
  for (ChildProcess* child : children) child->Urge();
  all_end_by(start + grace);
  for (ChildProcess* child : children) child->Stop(Millis(0));
}

Result<std::string> OwnFolder() {
  char path[PATH_MAX];
  const ssize_t size = readlink("/proc/self/exe", path, sizeof path);
  if (size <= 0) return FailErrno("cannot read /proc/self/exe");
  const std::string_view whole(path, static_cast<std::size_t>(size));
  return std::string(whole.substr(0, whole.rfind('/')));
}

}  // namespace skerry::cli
