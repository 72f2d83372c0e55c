#include "clients/cli/pool_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string_view>
#include <utility>

namespace skerry::cli {
namespace {

constexpr std::string_view kPrefix = "skerry-";
constexpr std::size_t kRandomLetters = 6;  // of mkdtemp
constexpr const char* kLock = "/owner";

/// The lock on a folder of ours; invalid: somebody holds it, or there is none.
Fd LockOn(const std::string& folder) {
  Fd file(open((folder + kLock).c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC));
  if (!file.valid() || flock(file.get(), LOCK_EX | LOCK_NB) != 0) return Fd();
  return file;
}

/// Held before it has its name, so that nobody finds it free.
Fd MakeLock(const std::string& folder) {
  const std::string unnamed = folder + kLock + ".new";
  Fd file(open(unnamed.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file.valid() || flock(file.get(), LOCK_EX | LOCK_NB) != 0) return Fd();
  return rename(unnamed.c_str(), (folder + kLock).c_str()) == 0 ? std::move(file) : Fd();
}

bool IsOurs(const std::filesystem::path& folder) {
  const std::string name = folder.filename().string();
  struct stat status {};
  return name.starts_with(kPrefix) && name.size() == kPrefix.size() + kRandomLetters &&
         lstat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid() &&
         (status.st_mode & 0777) == 0700;
}

std::vector<std::filesystem::path> OursIn(const std::string& base) {
  std::error_code ignored;
  std::vector<std::filesystem::path> folders;
  for (auto it = std::filesystem::directory_iterator(base, ignored);
       it != std::filesystem::directory_iterator(); it.increment(ignored)) {
    if (IsOurs(it->path())) folders.push_back(it->path());
  }
  return folders;
}

/// What killed processes have left. Best effort: nobody depends on it.
void Sweep(const std::string& base) {
  std::error_code ignored;
  for (const auto& folder : OursIn(base)) {
    if (const Fd lock = LockOn(folder.string()); lock.valid()) std::filesystem::remove_all(folder, ignored);
  }
}

}  // namespace

Result<PoolFolder> PoolFolder::Make(const std::vector<const char*>& variables) {
  // A Unix socket's path holds 107 bytes: a long base cannot carry one.
  constexpr std::size_t kLongestBase = 60;
  std::string pattern = "/tmp";
  for (const char* variable : variables) {
    const char* base = std::getenv(variable);
    if (base == nullptr || *base != '/' || std::string_view(base).size() > kLongestBase) continue;
    if (access(base, W_OK) != 0) continue;
    pattern = base;
    break;
  }
  Sweep(pattern);
  pattern += "/" + std::string(kPrefix) + std::string(kRandomLetters, 'X');
  if (mkdtemp(pattern.data()) == nullptr)
    return FailErrno("cannot make a folder like " + pattern);  // mode 0700
  PoolFolder folder;
  folder.path_ = pattern;
  folder.lock_ = MakeLock(pattern);
  return folder;
}

PoolFolder::~PoolFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

PoolFolder::PoolFolder(PoolFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})), lock_(std::move(other.lock_)) {}

PoolFolder& PoolFolder::operator=(PoolFolder&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(lock_, other.lock_);
  return *this;
}

std::vector<std::string> RunningPools(const std::string& name) {
  std::set<std::string> bases = {"/tmp"};
  for (const char* variable : {"XDG_RUNTIME_DIR", "TMPDIR"}) {
    const char* base = std::getenv(variable);
    if (base != nullptr && *base == '/') bases.insert(base);
  }
  std::vector<std::string> endpoints;
  for (const std::string& base : bases) {
    for (const auto& folder : OursIn(base)) {
      struct stat status {};
      const std::string path = folder.string() + "/" + name;
      if (lstat(path.c_str(), &status) != 0 || !S_ISSOCK(status.st_mode)) continue;
      // A lock that is free is that of a process that was killed.
      if (!LockOn(folder.string()).valid()) endpoints.push_back("ipc://" + path);
    }
  }
  std::sort(endpoints.begin(), endpoints.end());
  return endpoints;
}

std::uint64_t SharedMemoryMb(std::uint64_t workers) {
  struct sysinfo info {};
  sysinfo(&info);
  const std::uint64_t total_mb = (static_cast<std::uint64_t>(info.totalram) * info.mem_unit) >> 20;
  return std::max<std::uint64_t>(total_mb * 8 / 10 / workers, 1);
}

}  // namespace skerry::cli
