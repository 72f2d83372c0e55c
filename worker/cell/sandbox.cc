#include "worker/cell/sandbox.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <memory>

namespace skerry::cell {
namespace {

using Filter = std::unique_ptr<void, decltype(&seccomp_release)>;

// Plain calls that need no look at their arguments, and why each is there.
constexpr int kAllowed[] = {
    SCMP_SYS(read),
    SCMP_SYS(write),
    SCMP_SYS(writev),  // the isolate's socket; /dev/null
    SCMP_SYS(sendto),  // the same, without SIGPIPE
    SCMP_SYS(recvmsg),
    SCMP_SYS(sendmsg),  // the cell's control socket (denied to isolates)
    SCMP_SYS(close),
    SCMP_SYS(close_range),  // the cell drops the isolate's end; the isolate the control socket
    SCMP_SYS(dup2),         // the isolate moves its socket to a fixed number
    SCMP_SYS(exit),
    SCMP_SYS(exit_group),
    SCMP_SYS(mmap),
    SCMP_SYS(munmap),
    SCMP_SYS(mprotect),
    SCMP_SYS(mremap),
    SCMP_SYS(madvise),
    SCMP_SYS(brk),  // memory
    SCMP_SYS(pkey_mprotect),
    SCMP_SYS(pkey_alloc),
    SCMP_SYS(pkey_free),  // V8 guards its code pages with keys
    SCMP_SYS(futex),
    SCMP_SYS(sched_yield),  // uncontended locks, spin waits
    SCMP_SYS(clock_gettime),
    SCMP_SYS(gettimeofday),
    SCMP_SYS(time),
    SCMP_SYS(clock_getres),  // where the vDSO falls back
    SCMP_SYS(clock_nanosleep),
    SCMP_SYS(nanosleep),  // V8's OS::Sleep
    SCMP_SYS(getrandom),  // V8's entropy
    SCMP_SYS(getpid),
    SCMP_SYS(gettid),
    SCMP_SYS(getrusage),  // thread ids, V8's own timers
    SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(rt_sigaction),
    SCMP_SYS(rt_sigreturn),
    SCMP_SYS(sigaltstack),  // abort()
    SCMP_SYS(tgkill),       // abort(); narrowed to itself in each isolate
    SCMP_SYS(seccomp),
    SCMP_SYS(prctl),  // each isolate's own filter and PDEATHSIG (denied after that)
    SCMP_SYS(restart_syscall),
};

// Calls that libraries try and can do without: refused, not fatal.
constexpr int kRefused[] = {
    SCMP_SYS(open),       SCMP_SYS(openat), SCMP_SYS(stat),      SCMP_SYS(lstat),
    SCMP_SYS(newfstatat), SCMP_SYS(access), SCMP_SYS(faccessat), SCMP_SYS(readlink),
    SCMP_SYS(readlinkat), SCMP_SYS(fstat),  SCMP_SYS(statx),  // no files
    SCMP_SYS(ioctl),      SCMP_SYS(uname),  SCMP_SYS(sysinfo),   SCMP_SYS(sched_getaffinity),
    SCMP_SYS(prlimit64),  SCMP_SYS(getcwd), SCMP_SYS(lseek),     SCMP_SYS(fcntl),
};

Status AddRules(scmp_filter_ctx filter) {
  for (const int call : kAllowed) {
    if (const int rc = seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 0); rc != 0)
      return FailErrno("seccomp rule", -rc);
  }
  for (const int call : kRefused) {
    if (const int rc = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EACCES), call, 0); rc != 0) {
      return FailErrno("seccomp rule", -rc);
    }
  }
  // The fork of an isolate, exactly as TemplateLoop makes it; anything else (threads, namespaces) kills.
  int rc = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1,
                            SCMP_A0(SCMP_CMP_EQ, CLONE_PARENT | CLONE_PIDFD | SIGCHLD));
  // Its flags are behind a pointer that a filter cannot read; libraries fall back to clone.
  if (rc == 0) rc = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
  if (rc != 0) return FailErrno("seccomp rule", -rc);
  return {};
}

Status LimitResources() {
  constexpr struct {
    __rlimit_resource resource;
    rlim_t value;
  } kLimits[] = {{RLIMIT_CORE, 0}, {RLIMIT_FSIZE, 0}, {RLIMIT_MEMLOCK, 0}, {RLIMIT_MSGQUEUE, 0}};
  for (const auto& [resource, value] : kLimits) {
    const rlimit limit{value, value};
    if (setrlimit(resource, &limit) != 0) return FailErrno("setrlimit");
  }
  // Not a bound on isolates, which have no call that makes a descriptor. The kernel refuses to pass one
  // (ETOOMANYREFS) while its user has more than this many on their way, those of every other cell and worker
  // of that user included.
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return FailErrno("getrlimit");
  files.rlim_cur = files.rlim_max;
  if (setrlimit(RLIMIT_NOFILE, &files) != 0) return FailErrno("setrlimit");
  return {};
}

Status SilenceStandardStreams() {
  const int null = open("/dev/null", O_RDWR);
  if (null < 0) return FailErrno("/dev/null");
  for (int fd = 0; fd <= 2; ++fd) {
    if (dup2(null, fd) < 0) return FailErrno("dup2");
  }
  if (null > 2) close(null);
  return {};
}

}  // namespace

Status LockDownCell() {
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return FailErrno("no_new_privs");
  // Neither ptrace nor /proc/PID/mem from another process of the same user.
  if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return FailErrno("PR_SET_DUMPABLE");
  if (auto status = LimitResources(); !status) return status;
  const Filter filter(seccomp_init(SCMP_ACT_KILL_PROCESS), &seccomp_release);
  if (!filter) return Fail(ErrorKind::kInternal, "seccomp_init failed");
  if (auto status = AddRules(filter.get()); !status) return status;
  if (auto status = SilenceStandardStreams(); !status) return status;
  if (const int rc = seccomp_load(filter.get()); rc != 0) return FailErrno("loading the seccomp filter", -rc);
  return {};
}

int LockDownIsolate() {
  const auto self = static_cast<__u32>(getpid());
  constexpr __u32 kNumber = offsetof(seccomp_data, nr);
  constexpr __u32 kFirstArgument = offsetof(seccomp_data, args[0]);
  // By hand, since building it with libseccomp costs more than the fork. The cell's filter, checked as well,
  // has already pinned the architecture and refused whatever is not listed there.
  const sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kNumber),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 8, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_recvmsg, 7, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sendmsg, 6, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_dup2, 5, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_seccomp, 4, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 4, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_tgkill, 0, 4),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kFirstArgument),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, self, 2, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_RET | BPF_K,
               SECCOMP_RET_ERRNO | EPERM),  // V8 names its mappings by prctl and does without
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{static_cast<unsigned short>(sizeof(program) / sizeof(program[0])),
                          const_cast<sock_filter*>(program)};
  if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) != 0) return errno;
  return 0;
}

}  // namespace skerry::cell
