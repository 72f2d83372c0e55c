#include "clients/cli/session_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "common/fd.h"
#include "common/hash.h"

namespace skerry::cli {
namespace {

constexpr std::size_t kNameBytes = 16;

bool IsName(const std::string& text) {
  return text.size() == 2 * kNameBytes && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

}  // namespace

SessionFile SessionFile::Of(const std::string& output) {
  SessionFile file;
  if (output != "-") file.path_ = output + ".session";
  return file;
}

SessionId SessionFile::Fresh() {
  return id_ = SessionId(RandomHex(kNameBytes));
}

SessionId SessionFile::Kept() {
  std::string name;
  std::ifstream(path_) >> name;
  if (path_.empty() || !IsName(name)) return Fresh();
  return id_ = SessionId(name);
}

Status SessionFile::Keep() const {
  if (path_.empty()) return {};
  // Whoever knows the name can take the session over.
  const Fd fd(open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  const std::string line = id_.str() + "\n";
  if (!fd.valid() || write(fd.get(), line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
    return FailErrno("cannot write to " + path_);
  }
  return {};
}

void SessionFile::Remove() const {
  if (!path_.empty()) unlink(path_.c_str());
}

}  // namespace skerry::cli
