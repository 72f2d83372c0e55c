#include "worker/cell/forbidden_calls.h"

#include <linux/seccomp.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include <cstdlib>
#include <memory>

#include "worker/cell/syscall_filter.h"

namespace skerry::cell {
namespace {

std::string CallName(int number) {
  const std::unique_ptr<char, decltype(&std::free)> name(
      seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, number), &std::free);
  return name ? name.get() : "call " + std::to_string(number);
}

/// Nothing but the address that its pidfd is written to is left open.
bool IsFork(const seccomp_data& data) {
  return data.nr == SYS_clone && data.args[0] == kReportedForkFlags && data.args[1] == 0 &&
         data.args[3] == 0 && data.args[4] == 0;
}

}  // namespace

std::optional<ForbiddenCall> NextForbiddenCall(int listener) {
  seccomp_notif* request = nullptr;
  if (seccomp_notify_alloc(&request, nullptr) != 0) return std::nullopt;
  std::optional<ForbiddenCall> call;
  if (seccomp_notify_receive(listener, request) == 0) {
    // Its pid is safe to use while the call waits: only its parent, the worker, can reap it.
    call = ForbiddenCall{static_cast<pid_t>(request->pid), CallName(request->data.nr), IsFork(request->data),
                         request->id};
  }
  seccomp_notify_free(request, nullptr);
  return call;
}

void LetFork(int listener, const ForbiddenCall& fork) {
  if (!fork.is_fork) return;
  seccomp_notif_resp answer{};
  answer.id = fork.id;
  answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
  ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
}

}  // namespace skerry::cell
