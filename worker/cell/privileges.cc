#include "worker/cell/privileges.h"

#include <grp.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "worker/cell/denied.h"

namespace skerry::cell {
namespace {

constexpr unsigned long kLockedBits = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP_LOCKED |
                                      SECBIT_KEEP_CAPS_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE |
                                      SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;

bool HasCapability(int capability) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {};
  if (syscall(SYS_capget, &header, data) != 0) return false;
  return (data[capability / 32].effective & (1u << (capability % 32))) != 0;
}

Status EmptyBoundingSet() {
  for (int capability = 0; prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; ++capability) {
    if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0)
      return FailDenied("dropping the bounding set", "prctl");
  }
  return {};
}

/// The worker's groups and user go; false: they stay, for one of the reasons in the header.
Result<bool> ChangeUser(Mechanisms mechanisms) {
  if (!HasCapability(CAP_SETUID) || !HasCapability(CAP_SETGID)) return false;
  const bool own_namespace = mechanisms.Has(Mechanism::kUserNamespace);
  if (!own_namespace && !HasCapability(CAP_SYS_RESOURCE)) return false;
  const unsigned id = own_namespace ? kCellUserInside : kCellUser;
  // EINVAL: not mapped here, because the worker is no root. EPERM: setgroups is denied with such a map.
  if (setgroups(0, nullptr) != 0 || setresgid(id, id, id) != 0) {
    if (errno == EPERM || errno == EINVAL) return false;
    return FailErrno("leaving the worker's groups");
  }
  if (setresuid(id, id, id) != 0) return FailErrno("leaving the worker's user");
  return true;
}

Status DropCapabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct none[2] = {};
  if (syscall(SYS_capset, &header, none) != 0) return FailDenied("dropping capabilities", "capset");
  return {};
}

}  // namespace

Result<Mechanisms> GiveUpPrivileges(Mechanisms mechanisms) {
  Mechanisms held;
  prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  // An ordinary user's process has no right to either, and nothing to lose by them.
  if (HasCapability(CAP_SETPCAP)) {
    if (auto status = EmptyBoundingSet(); !status) return Fail(status.error());
    if (prctl(PR_SET_SECUREBITS, kLockedBits, 0, 0, 0) != 0) return FailDenied("locking securebits", "prctl");
  }
  auto changed = ChangeUser(mechanisms);
  if (!changed) return Fail(changed.error());
  if (*changed) held.Add(Mechanism::kOwnUser);
  if (auto status = DropCapabilities(); !status) return Fail(status.error());
  held.Add(Mechanism::kNoCapabilities);
  return held;
}

}  // namespace skerry::cell
