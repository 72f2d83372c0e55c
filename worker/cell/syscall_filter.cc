#include "worker/cell/syscall_filter.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <initializer_list>
#include <memory>

#include "worker/cell/denied.h"

namespace skerry::cell {
namespace {

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
    SCMP_SYS(munmap),
    SCMP_SYS(mremap),
    SCMP_SYS(brk),  // memory; what makes it is below
    SCMP_SYS(pkey_alloc),
    SCMP_SYS(pkey_free),    // V8 guards its code pages with keys
    SCMP_SYS(sched_yield),  // spin waits
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
    SCMP_SYS(tgkill),       // abort(); narrowed to that in each isolate
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

// Not MADV_MERGEABLE (deduplication tells tenants what others hold), not MADV_HWPOISON, nothing unknown.
constexpr int kAdvice[] = {MADV_NORMAL,  MADV_RANDOM,        MADV_WILLNEED,      MADV_DONTNEED,
                           MADV_FREE,    MADV_HUGEPAGE,      MADV_NOHUGEPAGE,    MADV_DONTDUMP,
                           MADV_DODUMP,  MADV_DONTFORK,      MADV_DOFORK,        MADV_COLD,
                           MADV_PAGEOUT, MADV_POPULATE_READ, MADV_POPULATE_WRITE};

// Locks that one thread can need. Priority inheritance and requeueing have been ways into the kernel.
constexpr int kFutexCalls[] = {FUTEX_WAIT, FUTEX_WAKE, FUTEX_WAIT_BITSET, FUTEX_WAKE_BITSET};

/// Collects rules; the first that libseccomp refuses is kept.
class Rules {
 public:
  explicit Rules(scmp_filter_ctx filter) : filter_(filter) {}

  void Add(std::uint32_t action, int call, std::initializer_list<scmp_arg_cmp> arguments = {}) {
    if (error_ != 0) return;
    error_ = seccomp_rule_add_array(filter_, action, call, static_cast<unsigned>(arguments.size()),
                                    arguments.begin());
  }
  void Allow(int call, std::initializer_list<scmp_arg_cmp> arguments = {}) {
    Add(SCMP_ACT_ALLOW, call, arguments);
  }
  void Refuse(int call, int error, std::initializer_list<scmp_arg_cmp> arguments = {}) {
    Add(SCMP_ACT_ERRNO(static_cast<std::uint16_t>(error)), call, arguments);
  }
  Status status() const {
    if (error_ != 0) return FailErrno("seccomp rule", -error_);
    return {};
  }

 private:
  scmp_filter_ctx filter_;
  int error_ = 0;
};

scmp_arg_cmp Is(unsigned argument, std::uint64_t value) {
  return {argument, SCMP_CMP_EQ, value, 0};
}
/// Of the bits in `mask` exactly those of `value` are set.
scmp_arg_cmp HasOf(unsigned argument, std::uint64_t mask, std::uint64_t value) {
  return {argument, SCMP_CMP_MASKED_EQ, mask, value};
}

void AddMemoryRules(Rules& rules, MachineCode machine_code) {
  const bool executable = machine_code == MachineCode::kMade;
  const std::uint64_t never =
      ~static_cast<std::uint64_t>(PROT_READ | PROT_WRITE | (executable ? PROT_EXEC : 0));
  // Private memory of nobody's file: shared pages would escape RLIMIT_DATA, and stacks that grow the guard
  // pages.
  constexpr std::uint64_t kKind = MAP_TYPE | MAP_ANONYMOUS | MAP_GROWSDOWN | MAP_HUGETLB | MAP_LOCKED;
  rules.Allow(SCMP_SYS(mmap), {HasOf(2, never, 0), HasOf(3, kKind, MAP_PRIVATE | MAP_ANONYMOUS)});
  rules.Allow(SCMP_SYS(mprotect), {HasOf(2, never, 0)});
  rules.Allow(SCMP_SYS(pkey_mprotect), {HasOf(2, never, 0)});
  for (const int advice : kAdvice)
    rules.Allow(SCMP_SYS(madvise), {Is(2, static_cast<std::uint64_t>(advice))});
}

Status AddRules(scmp_filter_ctx filter, MachineCode machine_code) {
  Rules rules(filter);
  for (const int call : kAllowed) rules.Allow(call);
  for (const int call : kRefused) rules.Refuse(call, EACCES);
  AddMemoryRules(rules, machine_code);
  constexpr std::uint64_t kFutexCall = ~static_cast<std::uint64_t>(FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME);
  for (const int call : kFutexCalls) {
    rules.Allow(SCMP_SYS(futex), {HasOf(1, kFutexCall & 0xffffffff, static_cast<std::uint64_t>(call))});
  }
  // The fork of an isolate or a cell, exactly; anything else (threads, namespaces) is forbidden.
  rules.Allow(SCMP_SYS(clone), {Is(0, kForkFlags)});
  // Its flags are behind a pointer that a filter cannot read; libraries fall back to clone.
  rules.Refuse(SCMP_SYS(clone3), ENOSYS);
  // Each isolate's own filter and PDEATHSIG (denied after that). V8 names its mappings by prctl and does
  // without.
  rules.Allow(SCMP_SYS(seccomp), {Is(0, SECCOMP_SET_MODE_FILTER), Is(1, 0)});
  rules.Allow(SCMP_SYS(prctl), {Is(0, PR_SET_PDEATHSIG)});
  rules.Refuse(SCMP_SYS(prctl), EINVAL, {Is(0, PR_SET_VMA)});
  return rules.status();
}

using Filter = std::unique_ptr<void, decltype(&seccomp_release)>;

/// libseccomp does not tell why it makes no filter: it asks the kernel what it can do, and takes a refusal
/// for a no.
tl::unexpected<Error> WhyThereIsNoFilter() {
  const std::uint32_t action = SECCOMP_RET_KILL_PROCESS;
  if (syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0)
    return Fail(ErrorKind::kUnavailable, "libseccomp does not know this kernel");
  return FailDenied("seccomp", "seccomp");
}

Result<Filter> MakeFilter(std::uint32_t forbidden, MachineCode machine_code) {
  Filter filter(seccomp_init(forbidden), &seccomp_release);
  if (!filter) return WhyThereIsNoFilter();
  // 32-bit and x32 calls have other numbers: no list of ours covers them.
  if (const int rc = seccomp_attr_set(filter.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS); rc != 0)
    return FailErrno("seccomp", -rc);
  if (auto status = AddRules(filter.get(), machine_code); !status) return Fail(status.error());
  return filter;
}

constexpr __u32 kKill = SECCOMP_RET_KILL_PROCESS;
constexpr __u32 kRefuse = SECCOMP_RET_ERRNO | EPERM;

// Filters by hand: what a statement loads, compares and answers.
constexpr __u32 kCallNumber = offsetof(seccomp_data, nr);
constexpr __u32 LowHalf(unsigned argument) {
  return static_cast<__u32>(offsetof(seccomp_data, args) + argument * sizeof(__u64));
}
constexpr __u32 HighHalf(unsigned argument) {
  return LowHalf(argument) + sizeof(__u32);
}
constexpr sock_filter Load(__u32 offset) {
  return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset);
}
constexpr sock_filter SkipIf(__u32 value, __u8 statements) {
  return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, statements, 0);
}
constexpr sock_filter SkipUnless(__u32 value, __u8 statements) {
  return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, statements);
}
constexpr sock_filter Return(__u32 action) {
  return BPF_STMT(BPF_RET | BPF_K, action);
}

/// Returns 0 or an errno; allocates nothing.
template <std::size_t N>
int Install(const sock_filter (&program)[N]) {
  const sock_fprog filter{static_cast<unsigned short>(N), const_cast<sock_filter*>(program)};
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) == 0 ? 0 : errno;
}

}  // namespace

Result<CellFilter> FilterCell(MachineCode machine_code) {
  CellFilter made;
  if (auto named = MakeFilter(SCMP_ACT_NOTIFY, machine_code)) {
    if (seccomp_load(named->get()) == 0) {
      made.listener = Fd(seccomp_notify_fd(named->get()));
      return made;
    }
  }
  // A kernel or a container profile without user notification, or a listener above us already.
  auto silent = MakeFilter(SCMP_ACT_KILL_PROCESS, machine_code);
  if (!silent) return Fail(silent.error());
  if (const int rc = seccomp_load(silent->get()); rc != 0)
    return FailDenied("loading the seccomp filter", "seccomp", -rc);
  return made;
}

int FilterProgramCell(int control_socket) {
  const auto control = static_cast<__u32>(control_socket);
  // The base filter, checked as well, has pinned the architecture, the operation and flags of seccomp, and
  // the list. A section is skipped by all other calls, and answers its own.
  const sock_filter program[] = {
      Load(kCallNumber),
      // Reported to the worker by the base filter.
      SkipUnless(SYS_clone, 6),
      Load(LowHalf(0)),
      SkipUnless(kReportedForkFlags, 2),
      Load(HighHalf(0)),
      SkipIf(0, 1),
      Return(kKill),
      Return(SECCOMP_RET_ALLOW),
      // On its own socket.
      SkipUnless(SYS_recvmsg, 4),
      Load(LowHalf(0)),
      SkipIf(control, 1),
      Return(kKill),
      Return(SECCOMP_RET_ALLOW),
      SkipUnless(SYS_sendmsg, 4),
      Load(LowHalf(0)),
      SkipIf(control, 1),
      Return(kKill),
      Return(SECCOMP_RET_ALLOW),
      // An isolate moves its socket to that number.
      SkipUnless(SYS_dup2, 4),
      Load(LowHalf(1)),
      SkipIf(control, 1),
      Return(kKill),
      Return(SECCOMP_RET_ALLOW),
      // An isolate is bound to the worker, and never let off.
      SkipUnless(SYS_prctl, 7),
      Load(LowHalf(0)),
      SkipIf(PR_SET_PDEATHSIG, 1),
      Return(kRefuse),
      Load(LowHalf(1)),
      SkipIf(SIGKILL, 1),
      Return(kKill),
      Return(SECCOMP_RET_ALLOW),
      // What abort() tries first, for whomever.
      SkipUnless(SYS_tgkill, 4),
      Load(LowHalf(2)),
      SkipIf(SIGABRT, 1),
      Return(kKill),
      Return(kRefuse),
      Return(SECCOMP_RET_ALLOW),
  };
  return Install(program);
}

int FilterIsolate() {
  const auto self = static_cast<__u32>(getpid());
  // By hand, since building it with libseccomp costs more than the fork. The cell's filter, checked as well,
  // has already pinned the architecture and refused whatever is not listed there.
  const sock_filter program[] = {
      Load(kCallNumber),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 10, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_recvmsg, 9, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sendmsg, 8, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_dup2, 7, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_seccomp, 6, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 6, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_tgkill, 0, 6),
      Load(LowHalf(0)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, self, 0, 2),
      Load(LowHalf(2)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SIGABRT, 2, 0),
      Return(kKill),
      Return(kRefuse),  // V8 names its mappings by prctl and does without
      Return(SECCOMP_RET_ALLOW),
  };
  return Install(program);
}

}  // namespace skerry::cell
