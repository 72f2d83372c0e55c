#include "clients/cli/pool_folder.h"

#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <utility>

namespace skerry::cli {

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
  pattern += "/skerry-XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr)
    return FailErrno("cannot make a folder like " + pattern);  // mode 0700
  PoolFolder folder;
  folder.path_ = pattern;
  return folder;
}

PoolFolder::~PoolFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

PoolFolder::PoolFolder(PoolFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}

PoolFolder& PoolFolder::operator=(PoolFolder&& other) noexcept {
  std::swap(path_, other.path_);
  return *this;
}

std::uint64_t SharedMemoryMb(std::uint64_t workers) {
  struct sysinfo info {};
  sysinfo(&info);
  const std::uint64_t total_mb = (static_cast<std::uint64_t>(info.totalram) * info.mem_unit) >> 20;
  return std::max<std::uint64_t>(total_mb * 8 / 10 / workers, 1);
}

}  // namespace skerry::cli
