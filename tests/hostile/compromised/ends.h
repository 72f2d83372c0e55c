// How each attempt (probe.h) ends in an isolate.
//
// Threads: constants.
#pragma once

namespace skerry::compromised {

inline constexpr const char* kKilled = "killed";  // by a filter that names no call

/// How each attempt ends in a strict sandbox, and in none. "killed X": the worker named system call X and
/// killed.
struct Row {
  const char* probe;
  const char* strict;
  const char* off;
};
inline constexpr Row kRows[] = {
    {"open", "EACCES", "allowed"},
    {"openat2", "killed openat2", "allowed"},
    {"create-file", "EACCES", "allowed"},
    {"proc-self-mem", "EACCES", "allowed"},
    {"unlink", "killed unlink", "allowed"},
    {"socket-inet", "killed socket", "allowed"},
    {"socket-unix", "killed socket", "allowed"},
    {"socket-netlink", "killed socket", "allowed"},
    {"socketpair", "killed socketpair", "allowed"},
    {"connect", "killed socket", "allowed"},
    {"execve", "killed execve", "allowed"},
    {"memfd-exec", "killed memfd_create", "allowed"},
    {"fork", "killed fork", "allowed"},
    {"vfork", kKilled, "allowed"},
    {"fork-as-the-cell", kKilled, "allowed"},
    {"clone3", "ENOSYS", "allowed"},
    {"thread", kKilled, "allowed"},
    {"ptrace", "killed ptrace", "allowed"},
    {"process-vm-readv", "killed process_vm_readv", "allowed"},
    {"kill-worker", "killed kill", "allowed"},
    {"kill-all", "killed kill", "allowed"},
    {"kill-init", "killed kill", "allowed"},
    {"tgkill-sibling", kKilled, "allowed"},
    {"queue-signal", "killed rt_sigqueueinfo", "allowed"},
    {"pidfd-open", "killed pidfd_open", "allowed"},
    {"io-uring", "killed io_uring_setup", "allowed"},
    {"userfaultfd", "killed userfaultfd", "allowed"},
    {"bpf", "killed bpf", "allowed"},
    {"keyctl", "killed keyctl", "allowed"},
    {"perf-event", "killed perf_event_open", "allowed"},
    {"mount", "killed mount", "allowed"},
    {"unshare", "killed unshare", "allowed"},
    {"setns", "killed setns", "allowed"},
    {"setuid", "killed getuid", "allowed"},
    {"chroot", "killed chroot", "allowed"},
    {"ioctl", "EACCES", "allowed"},
    {"dup", "killed dup", "allowed"},
    {"sendmsg", kKilled, "allowed"},
    {"recvmsg", kKilled, "allowed"},
    {"new-filter", kKilled, "EFAULT"},
    {"dumpable", "EPERM", "allowed"},
    {"outlive-the-worker", "EPERM", "allowed"},
    {"raise-priority", "killed setpriority", "allowed"},
    {"real-time", "killed sched_setscheduler", "allowed"},
    {"shared-pages", "killed mmap", "allowed"},
    {"merge-pages", "killed madvise", "allowed"},
    {"int-0x80", kKilled, "allowed"},
};

/// Attempts that no sandbox is needed against: a process per job has nothing to find.
inline constexpr Row kHarmlessRows[] = {
    {"descriptors", "EBADF", "EBADF"},
    {"environment", "empty", "empty"},
    {"anothers-secret", "nothing found", "nothing found"},
};

}  // namespace skerry::compromised
