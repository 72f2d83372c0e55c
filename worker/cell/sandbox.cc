#include "worker/cell/sandbox.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "worker/cell/denied.h"
#include "worker/cell/empty_root.h"
#include "worker/cell/landlock.h"
#include "worker/cell/privileges.h"

namespace skerry::cell {
namespace {

// A cell forks isolates and nothing else; 4,096 leases and as many spares are what a worker may have.
constexpr rlim_t kMaxProcesses = 3 * 4096;

Status LimitResources(Mechanisms namespaces) {
  constexpr struct {
    __rlimit_resource resource;
    rlim_t value;
  } kLimits[] = {{RLIMIT_CORE, 0},     {RLIMIT_FSIZE, 0}, {RLIMIT_MEMLOCK, 0},
                 {RLIMIT_MSGQUEUE, 0}, {RLIMIT_NICE, 0},  {RLIMIT_RTPRIO, 0}};
  for (const auto& [resource, value] : kLimits) {
    const rlimit limit{value, value};
    if (setrlimit(resource, &limit) != 0) return FailDenied("setrlimit", "prlimit64 and setrlimit");
  }
  // Counted per user namespace; outside one it would count the worker's user's other processes.
  rlimit processes{};
  if (getrlimit(RLIMIT_NPROC, &processes) != 0) return FailErrno("getrlimit");
  processes.rlim_max =
      std::min(processes.rlim_max, kMaxProcesses);  // an ordinary user's may be lower already
  processes.rlim_cur = processes.rlim_max;
  if (namespaces.Has(Mechanism::kUserNamespace) && setrlimit(RLIMIT_NPROC, &processes) != 0)
    return FailDenied("setrlimit(RLIMIT_NPROC)", "prlimit64 and setrlimit");
  // Not a bound on isolates, which have no call that makes a descriptor. The kernel refuses to pass one
  // (ETOOMANYREFS) while its user has more than this many on their way, those of every other cell and worker
  // of that user included.
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return FailErrno("getrlimit");
  files.rlim_cur = files.rlim_max;
  if (setrlimit(RLIMIT_NOFILE, &files) != 0) return FailDenied("setrlimit", "prlimit64 and setrlimit");
  return {};
}

/// When the machine is short of memory, a program goes before the worker does, and before the broker.
void OfferToTheOomKiller() {
  constexpr std::string_view kBeforeOthers = "800";
  const Fd file(open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));
  // Without /proc there is nothing to do about it: the order in which processes die is a courtesy.
  if (file.valid() && write(file.get(), kBeforeOthers.data(), kBeforeOthers.size()) < 0) return;
}

/// Opened while there are files, put in place when nothing is left to complain about.
class Silence {
 public:
  Silence() : null_(open("/dev/null", O_RDWR | O_CLOEXEC)) {}
  Status Fall() const {
    for (int fd = 0; fd <= 2; ++fd) {
      if (dup2(null_.get(), fd) < 0) return FailErrno("/dev/null");
    }
    return {};
  }

 private:
  Fd null_;
};

/// Namespaces that hold by themselves; the mount namespace once its root is empty.
Mechanisms Settle(Mechanisms namespaces) {
  Mechanisms held;
  for (const Mechanism mechanism :
       {Mechanism::kUserNamespace, Mechanism::kPidNamespace, Mechanism::kNetworkNamespace,
        Mechanism::kIpcNamespace, Mechanism::kUtsNamespace}) {
    if (namespaces.Has(mechanism)) held.Add(mechanism);
  }
  if (namespaces.Has(Mechanism::kEmptyRoot) && EnterEmptyRoot()) held.Add(Mechanism::kEmptyRoot);
  return held;
}

/// Changing user clears both, so they come after it.
Result<Mechanisms> BindToWorker() {
  Mechanisms held;
  if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) return FailDenied("PR_SET_PDEATHSIG", "prctl");
  // Neither ptrace nor /proc/PID/mem from another process of the same user.
  if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return FailDenied("PR_SET_DUMPABLE", "prctl");
  held.Add(Mechanism::kNotDumpable);
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return FailDenied("no_new_privs", "prctl");
  held.Add(Mechanism::kNoNewPrivileges);
  return held;
}

Status CheckComplete(SandboxMode mode, Mechanisms held, const std::string& why) {
  const auto missing = MissingFrom(held);
  if (mode != SandboxMode::kStrict || missing.empty()) return {};
  return Fail(ErrorKind::kUnavailable,
              "the sandbox would not be complete: " + HowToGrant(missing) +
                  (why.empty() ? "" : " [" + why + "]") +
                  "; or ask for less by name: --sandbox=best-effort (of skerry run, exec and "
                  "up, and of skerry-worker), or sandbox in skerry.toml");
}

}  // namespace

Result<LockedDown> LockDownCell(const LockDownOptions& options) {
  LockedDown locked;
  const Silence silence;
  if (options.mode != SandboxMode::kOff) {
    if (auto status = LimitResources(options.namespaces); !status) return Fail(status.error());
    OfferToTheOomKiller();
    Mechanisms held = Settle(options.namespaces);
    auto given_up = GiveUpPrivileges(held);
    if (!given_up) return Fail(given_up.error());
    auto bound = BindToWorker();
    if (!bound) return Fail(bound.error());
    held = held | *given_up | *bound | ForbidByLandlock();
    auto filter = FilterCell(options.machine_code);
    if (filter) {
      held.Add(Mechanism::kSeccomp);
      if (filter->listener.valid()) held.Add(Mechanism::kCallReports);
      locked.listener = std::move(filter->listener);
    }
    const std::string why = filter ? "" : filter.error().message;
    if (auto status = CheckComplete(options.mode, held, why); !status) return Fail(status.error());
    locked.mechanisms = held;
  }
  if (auto status = silence.Fall(); !status) return Fail(status.error());
  return locked;
}

int LockDownProgramCell(Mechanisms held, int control_socket) {
  return CanHoldPrograms(held) ? FilterProgramCell(control_socket) : EPERM;
}

int LockDownIsolate(Mechanisms held) {
  return held.Has(Mechanism::kSeccomp) ? FilterIsolate() : 0;
}

}  // namespace skerry::cell
