#include "worker/cell/namespaces.h"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <string>

#include "common/fd.h"
#include "worker/cell/privileges.h"

namespace skerry::cell {
namespace {

constexpr unsigned kNobody = 65'534;

bool WriteFile(const std::string& path, const std::string& text) {
  const Fd file(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  return file.valid() && write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

std::string MapLine(unsigned inside, unsigned outside) {
  return std::to_string(inside) + " " + std::to_string(outside) + " 1\n";
}

/// The kernel takes a map once and whole, so each try is a full one.
bool WriteMap(const std::string& path, unsigned own) {
  for (const unsigned cell_user : {kCellUser, kNobody}) {
    if (WriteFile(path, MapLine(0, own) + MapLine(kCellUserInside, cell_user))) return true;
  }
  return WriteFile(path, MapLine(0, own));
}

}  // namespace

Mechanisms UnshareNamespaces() {
  Mechanisms held;
  if (unshare(CLONE_NEWUSER | CLONE_NEWPID) == 0) {
    held.Add(Mechanism::kUserNamespace);
    held.Add(Mechanism::kPidNamespace);
  } else if (unshare(CLONE_NEWPID) == 0) {
    held.Add(Mechanism::kPidNamespace);
  }
  constexpr struct {
    int flag;
    Mechanism mechanism;
  } kOthers[] = {{CLONE_NEWNET, Mechanism::kNetworkNamespace},
                 {CLONE_NEWIPC, Mechanism::kIpcNamespace},
                 {CLONE_NEWUTS, Mechanism::kUtsNamespace}};
  for (const auto& [flag, mechanism] : kOthers) {
    if (unshare(flag) == 0) held.Add(mechanism);
  }
  return held;
}

Mechanisms UnshareMounts() {
  Mechanisms held;
  if (unshare(CLONE_NEWNS) == 0) held.Add(Mechanism::kEmptyRoot);
  return held;
}

void WriteIdMaps(pid_t pid) {
  const std::string folder = "/proc/" + std::to_string(pid);
  if (!WriteMap(folder + "/uid_map", geteuid())) return;
  if (WriteMap(folder + "/gid_map", getegid())) return;
  // An ordinary user may map its group only once nobody can drop groups any more (user_namespaces(7)).
  if (WriteFile(folder + "/setgroups", "deny")) WriteMap(folder + "/gid_map", getegid());
}

}  // namespace skerry::cell
