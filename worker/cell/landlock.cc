#include "worker/cell/landlock.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace skerry::cell {
namespace {

// The kernel's own header is older in Debian 12 than the kernels that this runs on.
struct RulesetAttr {
  std::uint64_t handled_access_fs;
  std::uint64_t handled_access_net;  // ABI 4
  std::uint64_t scoped;              // ABI 6
};
constexpr unsigned kQueryVersion = 1u << 0;

constexpr int kAbiWithNetwork = 4;
constexpr int kAbiWithScopes = 6;
constexpr std::uint64_t kBindAndConnectTcp = 0x3;
constexpr std::uint64_t kAbstractSocketsAndSignals = 0x3;

/// Every file right of an ABI: 13 in the first, one more in the second (refer), third (truncate) and fifth
/// (ioctl).
constexpr std::uint64_t FileRights(int abi) {
  const int rights = 13 + (abi >= 2 ? 1 : 0) + (abi >= 3 ? 1 : 0) + (abi >= 5 ? 1 : 0);
  return (1ull << rights) - 1;
}

constexpr std::size_t SizeOf(int abi) {
  return sizeof(std::uint64_t) * (abi >= kAbiWithScopes ? 3 : abi >= kAbiWithNetwork ? 2 : 1);
}

}  // namespace

Mechanisms ForbidByLandlock() {
  Mechanisms held;
  const long abi = syscall(SYS_landlock_create_ruleset, nullptr, 0, kQueryVersion);
  if (abi < 1) return held;  // not in this kernel, not switched on, or denied
  const int version = static_cast<int>(abi);
  const RulesetAttr attributes{FileRights(version), kBindAndConnectTcp, kAbstractSocketsAndSignals};
  const long ruleset = syscall(SYS_landlock_create_ruleset, &attributes, SizeOf(version), 0);
  if (ruleset < 0) return held;
  const long done = syscall(SYS_landlock_restrict_self, ruleset, 0);
  close(static_cast<int>(ruleset));
  if (done != 0) return held;
  held.Add(Mechanism::kLandlockFiles);
  if (version >= kAbiWithNetwork) held.Add(Mechanism::kLandlockNetwork);
  if (version >= kAbiWithScopes) held.Add(Mechanism::kLandlockScopes);
  return held;
}

}  // namespace skerry::cell
