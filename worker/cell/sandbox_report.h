// What holds a cell in: the mechanisms that the kernel granted, and the properties that they give.
//
// A sandbox is judged by what is impossible inside it (DESIGN section 7), not by which mechanism did it:
// several layers hold most properties, and any one is enough. What is wanted is a mode, what is there is a
// set of mechanisms.
//
// Threads: plain data. Errors: none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/sandbox_level.h"

namespace skerry::cell {

/// strict: every property or no start. best-effort: what can be had. off: nothing, for looking for faults
/// only.
enum class SandboxMode : std::uint8_t { kStrict, kBestEffort, kOff };
std::string_view NameOf(SandboxMode mode);
std::optional<SandboxMode> SandboxModeByName(std::string_view name);

enum class Mechanism : std::uint8_t {
  kUserNamespace,
  kPidNamespace,
  kEmptyRoot,  ///< a mount namespace whose root is an empty, read-only tmpfs
  kNetworkNamespace,
  kIpcNamespace,
  kUtsNamespace,
  kOwnUser,         ///< not the worker's user
  kNoCapabilities,  ///< none to have and none to get, the bounding set included
  kNoNewPrivileges,
  kNotDumpable,
  kLandlockFiles,
  kLandlockNetwork,  ///< Landlock ABI 4: TCP
  kLandlockScopes,   ///< Landlock ABI 6: signals and abstract sockets
  kSeccomp,
  kCallReports,  ///< forbidden system calls are named to the worker (seccomp user notification)
};
inline constexpr int kMechanismCount = 15;
std::string_view NameOf(Mechanism mechanism);

class Mechanisms {
 public:
  Mechanisms() = default;
  explicit Mechanisms(std::uint32_t bits) : bits_(bits & ((1u << kMechanismCount) - 1)) {}
  void Add(Mechanism mechanism) { bits_ |= Bit(mechanism); }
  bool Has(Mechanism mechanism) const { return (bits_ & Bit(mechanism)) != 0; }
  Mechanisms operator|(Mechanisms other) const { return Mechanisms(bits_ | other.bits_); }
  std::uint32_t bits() const { return bits_; }

 private:
  static constexpr std::uint32_t Bit(Mechanism mechanism) { return 1u << static_cast<unsigned>(mechanism); }
  std::uint32_t bits_ = 0;
};

/// What `strict` promises.
enum class Property : std::uint8_t {
  kSystemCalls,  ///< only those on the list
  kNetwork,
  kFiles,
  kExec,
  kForeignSignals,
  kForeignMemory,
  kPrivileges,
};
inline constexpr int kPropertyCount = 7;
std::string_view NameOf(Property property);

/// Those that nothing in `mechanisms` gives.
std::vector<Property> MissingFrom(Mechanisms mechanisms);
/// "no network, no files"
std::string NamesOf(const std::vector<Property>& properties);
/// "no network (needs ...)" for each: what cannot be had and how to grant it.
std::string HowToGrant(const std::vector<Property>& missing);

/// Whether a program may be kept evaluated behind them: the cell that holds it must not fork unless the
/// worker lets it, and what it forked must end with the worker even if it would not.
bool CanHoldPrograms(Mechanisms mechanisms);

/// How many layers there are.
SandboxLevel LevelOf(Mechanisms mechanisms);

/// "namespaces: user pid mount ... seccomp": one line for a log.
std::string Describe(Mechanisms mechanisms);

}  // namespace skerry::cell
