#include "common/bounded_read.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace skerry {

Result<std::string> ReadPast(int fd, std::size_t most) {
  std::string text(most + 1, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const ssize_t got = ::read(fd, text.data() + size, text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Fail(ErrorKind::kUnavailable, std::strerror(errno));
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  text.resize(size);
  return text;
}

}  // namespace skerry
