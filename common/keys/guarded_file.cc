#include "common/keys/guarded_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "common/bounded_read.h"
#include "common/fd.h"

namespace skerry::keys {
namespace {

tl::unexpected<Error> Unreadable(const std::string& path, const std::string& why) {
  return Fail(ErrorKind::kInvalid, path + ": " + why);
}

/// Of the open file, so that nobody can put another in its place meanwhile.
Status CheckGuard(const std::string& path, Guard guard, const struct stat& about) {
  if (!S_ISREG(about.st_mode)) return Unreadable(path, "is not a regular file");
  if (about.st_uid != geteuid() && about.st_uid != 0) {
    return Unreadable(path, "belongs to user " + std::to_string(about.st_uid) +
                                "; it must belong to this one (" + std::to_string(geteuid()) +
                                ") or to root");
  }
  if (guard == Guard::kSecret && (about.st_mode & 077) != 0) {
    return Unreadable(path, "others may read or write this secret: chmod 600 " + path +
                                ", and make a new key if they may have");
  }
  if (guard == Guard::kTrusted && (about.st_mode & 022) != 0) {
    return Unreadable(path, "others may write it, and so let in whom they like: chmod go-w " + path);
  }
  return {};
}

}  // namespace

Result<std::string> ReadGuardedFile(const std::string& path, Guard guard, std::size_t max_bytes) {
  // Not blocking: a FIFO without a writer must not hold up the start.
  const Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd.valid()) return Unreadable(path, std::string("cannot be read: ") + std::strerror(errno));
  struct stat about {};
  if (fstat(fd.get(), &about) != 0) return Unreadable(path, std::strerror(errno));
  if (auto guarded = CheckGuard(path, guard, about); !guarded) return Fail(guarded.error());
  auto text = ReadPast(fd.get(), max_bytes);
  if (!text) return Unreadable(path, "cannot be read: " + text.error().message);
  if (text->size() > max_bytes) {
    return Unreadable(path, "is larger than " + std::to_string(max_bytes) + " bytes: is it the right file?");
  }
  return text;
}

}  // namespace skerry::keys
