#include "worker/cell/forbidden_calls.h"

#include <seccomp.h>

#include <cstdlib>
#include <memory>

namespace skerry::cell {
namespace {

std::string CallName(int number) {
  const std::unique_ptr<char, decltype(&std::free)> name(
      seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, number), &std::free);
  return name ? name.get() : "call " + std::to_string(number);
}

}  // namespace

std::optional<ForbiddenCall> NextForbiddenCall(int listener) {
  seccomp_notif* request = nullptr;
  if (seccomp_notify_alloc(&request, nullptr) != 0) return std::nullopt;
  std::optional<ForbiddenCall> call;
  if (seccomp_notify_receive(listener, request) == 0) {
    // Its pid is safe to use while the call waits: only its parent, the worker, can reap it.
    call = ForbiddenCall{static_cast<pid_t>(request->pid), CallName(request->data.nr)};
  }
  seccomp_notify_free(request, nullptr);
  return call;
}

}  // namespace skerry::cell
