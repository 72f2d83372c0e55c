#include "worker/cell/empty_root.h"

#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace skerry::cell {
namespace {

constexpr unsigned long kNothingRuns = MS_NOSUID | MS_NODEV | MS_NOEXEC;
// A place to mount on; nobody looks at what is under it any more.
constexpr const char* kPlaces[] = {"/tmp", "/proc", "/dev", "/sys"};

const char* MountEmptyFolder() {
  for (const char* place : kPlaces) {
    // One inode: the root folder itself.
    if (mount("tmpfs", place, "tmpfs", kNothingRuns, "size=4k,nr_inodes=1,mode=0555") == 0) return place;
  }
  return nullptr;
}

}  // namespace

Status EnterEmptyRoot() {
  // Or the host would see what follows.
  if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return FailErrno("private mounts");
  const char* place = MountEmptyFolder();
  if (place == nullptr) return FailErrno("mounting a tmpfs");
  if (chdir(place) != 0) return FailErrno("chdir");
  // Over itself: no folder for the old root is needed (pivot_root(2), NOTES).
  if (syscall(SYS_pivot_root, ".", ".") != 0) return FailErrno("pivot_root");
  if (umount2(".", MNT_DETACH) != 0) return FailErrno("letting the old root go");
  if (chdir("/") != 0) return FailErrno("chdir");
  if (mount(nullptr, "/", nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY | kNothingRuns, nullptr) != 0) {
    return FailErrno("making the root read-only");
  }
  return {};
}

}  // namespace skerry::cell
