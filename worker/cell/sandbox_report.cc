#include "worker/cell/sandbox_report.h"

#include <array>
#include <initializer_list>

namespace skerry::cell {
namespace {

constexpr std::array<std::string_view, 3> kModes = {"strict", "best-effort", "off"};
constexpr std::array<std::string_view, kMechanismCount> kMechanisms = {
    "user-namespace", "pid-namespace",    "empty-root",      "network-namespace", "ipc-namespace",
    "uts-namespace",  "own-user",         "no-capabilities", "no-new-privileges", "not-dumpable",
    "landlock-files", "landlock-network", "landlock-scopes", "seccomp",           "call-reports"};

constexpr std::string_view kGrantSeccomp =
    "seccomp filters: a kernel with CONFIG_SECCOMP_FILTER, and a container profile that allows seccomp(2)";

struct Row {
  std::string_view name;
  std::string_view how;
  std::initializer_list<Mechanism> any_of;
};

const std::array<Row, kPropertyCount>& Rows() {
  static const std::array<Row, kPropertyCount> kRows = {{
      {"listed system calls only", kGrantSeccomp, {Mechanism::kSeccomp}},
      {"no network",
       "seccomp filters, or network namespaces (user namespaces allowed)",
       {Mechanism::kSeccomp, Mechanism::kNetworkNamespace}},
      {"no files",
       "seccomp filters, Landlock (kernel 5.13 or newer, lsm=landlock), or mount namespaces",
       {Mechanism::kSeccomp, Mechanism::kLandlockFiles, Mechanism::kEmptyRoot}},
      {"no exec",
       "seccomp filters, Landlock, or mount namespaces",
       {Mechanism::kSeccomp, Mechanism::kLandlockFiles, Mechanism::kEmptyRoot}},
      {"no signals to other processes",
       "seccomp filters, PID namespaces, or Landlock with scopes (kernel 6.12)",
       {Mechanism::kSeccomp, Mechanism::kPidNamespace, Mechanism::kLandlockScopes}},
      {"no other process's memory",
       "seccomp filters or PID namespaces",
       {Mechanism::kSeccomp, Mechanism::kPidNamespace}},
      {"no privileges to gain",
       "prctl(PR_SET_NO_NEW_PRIVS) and capset(2): a container profile that allows both",
       {Mechanism::kNoNewPrivileges}},
  }};
  return kRows;
}

bool Gives(Mechanisms mechanisms, Property property) {
  bool given = false;
  for (const Mechanism mechanism : Rows()[static_cast<std::size_t>(property)].any_of) {
    given = given || mechanisms.Has(mechanism);
  }
  // No new privileges are worth little to a process that keeps old ones.
  return given && (property != Property::kPrivileges || mechanisms.Has(Mechanism::kNoCapabilities));
}

}  // namespace

std::string_view NameOf(SandboxMode mode) {
  return kModes[static_cast<std::size_t>(mode)];
}

std::optional<SandboxMode> SandboxModeByName(std::string_view name) {
  for (std::size_t i = 0; i < kModes.size(); ++i) {
    if (kModes[i] == name) return static_cast<SandboxMode>(i);
  }
  return std::nullopt;
}

std::string_view NameOf(Mechanism mechanism) {
  return kMechanisms[static_cast<std::size_t>(mechanism)];
}

std::string_view NameOf(Property property) {
  return Rows()[static_cast<std::size_t>(property)].name;
}

std::vector<Property> MissingFrom(Mechanisms mechanisms) {
  std::vector<Property> missing;
  for (int i = 0; i < kPropertyCount; ++i) {
    const auto property = static_cast<Property>(i);
    if (!Gives(mechanisms, property)) missing.push_back(property);
  }
  return missing;
}

std::string NamesOf(const std::vector<Property>& properties) {
  std::string text;
  for (const Property property : properties) {
    text += (text.empty() ? "" : ", ") + std::string(NameOf(property));
  }
  return text;
}

std::string HowToGrant(const std::vector<Property>& missing) {
  std::string text;
  for (const Property property : missing) {
    const Row& row = Rows()[static_cast<std::size_t>(property)];
    text += (text.empty() ? "" : "; ") + std::string(row.name) + " (needs " + std::string(row.how) + ")";
  }
  return text;
}

bool CanHoldPrograms(Mechanisms mechanisms) {
  return mechanisms.Has(Mechanism::kSeccomp) && mechanisms.Has(Mechanism::kCallReports) &&
         mechanisms.Has(Mechanism::kPidNamespace);
}

SandboxLevel LevelOf(Mechanisms mechanisms) {
  if (!MissingFrom(mechanisms).empty()) return SandboxLevel::kNone;
  const bool namespaces = mechanisms.Has(Mechanism::kPidNamespace) && mechanisms.Has(Mechanism::kEmptyRoot) &&
                          mechanisms.Has(Mechanism::kNetworkNamespace);
  if (namespaces) return SandboxLevel::kNamespaces;
  return mechanisms.Has(Mechanism::kLandlockFiles) ? SandboxLevel::kLandlockSeccomp : SandboxLevel::kSeccomp;
}

std::string Describe(Mechanisms mechanisms) {
  std::string text(NameOf(LevelOf(mechanisms)));
  text += " (";
  bool first = true;
  for (int i = 0; i < kMechanismCount; ++i) {
    const auto mechanism = static_cast<Mechanism>(i);
    if (!mechanisms.Has(mechanism)) continue;
    text += (first ? "" : " ") + std::string(NameOf(mechanism));
    first = false;
  }
  return text + ")";
}

}  // namespace skerry::cell
