#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/io_uring.h>
#include <linux/keyctl.h>
#include <linux/openat2.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <linux/vm_sockets.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>

#include "tests/hostile/compromised/probe.h"

extern char** environ;

namespace skerry::compromised {
namespace {

std::string EndOf(long result) {
  if (result >= 0) return "allowed";
  const char* name = strerrorname_np(errno);
  return name != nullptr ? name : "errno " + std::to_string(errno);
}

/// A new process, if there is one, leaves at once.
std::string EndOfFork(long pid) {
  if (pid == 0) _exit(0);
  return EndOf(pid);
}

std::string OpenForReading(const char* path) {
  return EndOf(open(path, O_RDONLY));
}

std::string Connect(int family, const sockaddr* address, socklen_t size) {
  const int made = socket(family, SOCK_STREAM, 0);
  if (made < 0) return EndOf(made);
  const int done = connect(made, address, size);
  // Somebody looked for a listener: the network is there, whether or not anybody listens.
  return done < 0 && errno == ECONNREFUSED ? "allowed" : EndOf(done);
}

std::string ConnectToLoopback(const Target&) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(9);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return Connect(AF_INET, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
}

std::string Openat2(const Target&) {
  open_how how{};
  how.flags = O_RDONLY;
  return EndOf(syscall(SYS_openat2, AT_FDCWD, "/etc/passwd", &how, sizeof(how)));
}

std::string Execve(const Target&) {
  // "allowed" has no witness but the exec's own end; the file is not there, so only the way to it can differ.
  char* const argv[] = {nullptr};
  execve("/nonexistent/program", argv, argv);
  return errno == ENOENT ? "allowed" : EndOf(-1);
}

std::string MemfdAndExec(const Target&) {
  const int file = static_cast<int>(syscall(SYS_memfd_create, "program", 0));
  if (file < 0) return EndOf(file);
  char* const argv[] = {nullptr};
  execveat(file, "", argv, argv, AT_EMPTY_PATH);
  return errno == ENOEXEC ? "allowed" : EndOf(-1);  // it is empty: the kernel got as far as looking at it
}

std::string Clone3(const Target&) {
  clone_args arguments{};
  arguments.exit_signal = SIGCHLD;
  return EndOfFork(syscall(SYS_clone3, &arguments, sizeof(arguments)));
}

std::string Thread(const Target&) {
  static char stack[16384];
  const int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
  return EndOf(clone([](void*) { return static_cast<int>(syscall(SYS_exit, 0)); }, stack + sizeof(stack),
                     flags, nullptr));
}

std::string ReadWorkersMemory(const Target& target) {
  char byte = 0;
  iovec here{&byte, 1};
  iovec there{reinterpret_cast<void*>(0x400000), 1};
  const long got = syscall(SYS_process_vm_readv, target.worker, &here, 1, &there, 1, 0);
  // EFAULT: it was let in, and only the address was wrong.
  return got < 0 && errno == EFAULT ? "allowed" : EndOf(got);
}

std::string IoUring(const Target&) {
  io_uring_params params{};
  return EndOf(syscall(SYS_io_uring_setup, 1, &params));
}

std::string Bpf(const Target&) {
  bpf_attr attributes{};
  attributes.map_type = BPF_MAP_TYPE_ARRAY;
  attributes.key_size = 4;
  attributes.value_size = 4;
  attributes.max_entries = 1;
  return EndOf(syscall(SYS_bpf, BPF_MAP_CREATE, &attributes, sizeof(attributes)));
}

std::string PerfEvent(const Target&) {
  perf_event_attr attributes{};
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.size = sizeof(attributes);
  attributes.config = PERF_COUNT_SW_CPU_CLOCK;
  return EndOf(syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0));
}

/// Descriptors beyond 0-3 that answer at all.
std::string InheritedDescriptors(const Target&) {
  for (int fd = 4; fd < 4096; ++fd) {
    if (close(fd) == 0) return "allowed";
  }
  return "EBADF";
}

std::string Environment(const Target&) {
  return environ == nullptr || environ[0] == nullptr ? "empty" : "allowed";
}

std::string RaiseALimit(const Target&) {
  const rlimit wide{RLIM_INFINITY, RLIM_INFINITY};
  return EndOf(syscall(SYS_prlimit64, 0, RLIMIT_DATA, &wide, nullptr));
}

// Where the heap begins: before anything has allocated from it.
char* heap_begin = nullptr;
__attribute__((constructor(101))) void NoteHeapBegin() {
  heap_begin = static_cast<char*>(sbrk(0));
}

/// Looks for what another job was given through all of its own heap, without ever holding a copy of it.
std::string AnothersSecret(const Target& target) {
  const std::string& shifted = target.secret;
  const auto* end = static_cast<const char*>(sbrk(0));
  for (const char* at = heap_begin; at + shifted.size() < end; ++at) {
    bool same = true;
    for (std::size_t i = 0; same && i < shifted.size(); ++i)
      same = at[i] == static_cast<char>(shifted[i] - 1);
    if (same) return "allowed";
  }
  return "nothing found";
}

std::string SharedPages(const Target&) {
  return mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0) == MAP_FAILED
             ? EndOf(-1)
             : "allowed";
}

std::string NewFilter(const Target&) {
  return EndOf(syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, nullptr));
}

std::string ThirtyTwoBitCall(const Target&) {
  long result = 0;
  // getpid by the 32-bit gate: other numbers, other rules.
  asm volatile("int $0x80" : "=a"(result) : "a"(20) : "memory");
  if (result < 0) errno = static_cast<int>(-result);
  return EndOf(result < 0 ? -1 : 0);
}

std::string X32Call(const Target&) {
  constexpr long kX32Bit = 0x40000000;
  return EndOf(syscall(kX32Bit + SYS_getpid));
}

}  // namespace

const std::vector<Attempt>& Attempts() {
  static const std::vector<Attempt> kAttempts = {
      {"open", [](const Target&) { return OpenForReading("/etc/passwd"); }},
      {"openat2", Openat2},
      {"create-file", [](const Target&) { return EndOf(open("/tmp", O_TMPFILE | O_WRONLY, 0600)); }},
      {"proc-self-mem", [](const Target&) { return OpenForReading("/proc/self/mem"); }},
      {"unlink",
       [](const Target&) {
         return unlink("/nonexistent") < 0 && errno == ENOENT ? std::string("allowed") : EndOf(-1);
       }},
      {"socket-inet", [](const Target&) { return EndOf(socket(AF_INET, SOCK_STREAM, 0)); }},
      {"socket-unix", [](const Target&) { return EndOf(socket(AF_UNIX, SOCK_STREAM, 0)); }},
      {"socket-netlink", [](const Target&) { return EndOf(socket(AF_NETLINK, SOCK_RAW, 0)); }},
      {"socket-vsock", [](const Target&) { return EndOf(socket(AF_VSOCK, SOCK_STREAM, 0)); }},
      {"socketpair",
       [](const Target&) {
         int pair[2];
         return EndOf(socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
       }},
      {"connect", ConnectToLoopback},
      {"execve", Execve},
      {"memfd-exec", MemfdAndExec},
      {"fork", [](const Target&) { return EndOfFork(syscall(SYS_fork)); }},
      {"vfork",
       [](const Target&) { return EndOfFork(syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, 0)); }},
      {"fork-as-the-cell",
       [](const Target&) {
         int pidfd = -1;
         return EndOfFork(
             syscall(SYS_clone, CLONE_PARENT | CLONE_PIDFD | SIGCHLD, nullptr, &pidfd, nullptr, nullptr));
       }},
      {"clone3", Clone3},
      {"thread", Thread},
      {"ptrace", [](const Target& target) { return EndOf(ptrace(PTRACE_SEIZE, target.worker, 0, 0)); }},
      {"process-vm-readv", ReadWorkersMemory},
      {"kill-worker", [](const Target& target) { return EndOf(kill(target.worker, 0)); }},
      {"kill-all", [](const Target&) { return EndOf(kill(-1, 0)); }},
      {"kill-init", [](const Target&) { return EndOf(kill(1, 0)); }},
      {"tgkill-sibling", [](const Target&) { return EndOf(syscall(SYS_tgkill, 2, 2, 0)); }},
      {"queue-signal",
       [](const Target&) {
         siginfo_t info{};
         info.si_code = SI_QUEUE;
         return EndOf(syscall(SYS_rt_sigqueueinfo, getpid(), 0, &info));
       }},
      {"pidfd-open", [](const Target&) { return EndOf(syscall(SYS_pidfd_open, getpid(), 0)); }},
      {"io-uring", IoUring},
      {"userfaultfd",
       [](const Target&) { return EndOf(syscall(SYS_userfaultfd, 1 /* UFFD_USER_MODE_ONLY */)); }},
      {"bpf", Bpf},
      {"keyctl", [](const Target&) { return EndOf(syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, -3, 1)); }},
      {"perf-event", PerfEvent},
      // On a folder that is not there: without a sandbox, and as root, the host would have the mount.
      {"mount",
       [](const Target&) {
         return mount("tmpfs", "/nonexistent", "tmpfs", 0, nullptr) < 0 && errno == ENOENT
                    ? std::string("allowed")
                    : EndOf(-1);
       }},
      {"unshare", [](const Target&) { return EndOf(unshare(CLONE_NEWUSER)); }},
      {"setns",
       [](const Target&) { return EndOf(setns(0, 0)) == "EINVAL" ? std::string("allowed") : EndOf(-1); }},
      {"setuid", [](const Target&) { return EndOf(setuid(getuid())); }},
      {"chroot", [](const Target&) { return EndOf(chroot("/")); }},
      {"ioctl",
       [](const Target&) {
         int value = 0;
         return EndOf(syscall(SYS_ioctl, 3, 0x541B /* FIONREAD */, &value));
       }},
      {"dup", [](const Target&) { return EndOf(dup(3)); }},
      {"sendmsg",
       [](const Target&) {
         msghdr message{};
         return EndOf(sendmsg(3, &message, MSG_DONTWAIT));
       }},
      {"recvmsg",
       [](const Target&) {
         msghdr message{};
         const long got = recvmsg(3, &message, MSG_DONTWAIT);
         return got < 0 && errno == EAGAIN ? std::string("allowed") : EndOf(got);
       }},
      {"new-filter", NewFilter},
      {"dumpable", [](const Target&) { return EndOf(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)); }},
      {"outlive-the-worker", [](const Target&) { return EndOf(prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0)); }},
      {"raise-limit", RaiseALimit},
      {"raise-priority", [](const Target&) { return EndOf(setpriority(PRIO_PROCESS, 0, -5)); }},
      {"real-time",
       [](const Target&) {
         const sched_param first{1};
         return EndOf(sched_setscheduler(0, SCHED_FIFO, &first));
       }},
      {"shared-pages", SharedPages},
      {"merge-pages",
       [](const Target&) {
         return EndOf(madvise(nullptr, 4096, MADV_MERGEABLE)) == "EINVAL" || errno == ENOMEM
                    ? std::string("allowed")
                    : EndOf(-1);
       }},
      {"int-0x80", ThirtyTwoBitCall},
      {"x32", X32Call},
      {"descriptors", InheritedDescriptors},
      {"environment", Environment},
      {"anothers-secret", AnothersSecret},
  };
  return kAttempts;
}

}  // namespace skerry::compromised
