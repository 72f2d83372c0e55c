// The control groups that bound this process' memory, of both versions: by what limit, and who counts the OOM
// killer's kills in them. Worker and doctor read them here, so that they cannot disagree.
//
//   const FileReader files = FilesUnder("/");
//   const std::optional<Bytes> bound = MemoryBound(files);
//
// Threads: pure reads of /proc and /sys. Errors: what cannot be read is no group, no limit, no count.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/units.h"

namespace skerry {

/// The text of a file of the kernel's, by its absolute path; nothing: no such file.
using FileReader = std::function<std::optional<std::string>(const std::string& path)>;
/// `root`: where /proc and /sys are, for tests.
FileReader FilesUnder(const std::filesystem::path& root);

struct MemoryGroup {
  enum class Version : std::uint8_t { k1, k2 };
  Version version = Version::k2;
  std::filesystem::path mount;
  /// Below the mount. Inside a container it is the host's path and may not exist here; the mount itself is
  /// then the container's group.
  std::filesystem::path path;
};
std::vector<MemoryGroup> OwnMemoryGroups(const FileReader& files);

/// The smallest memory limit of this process' groups and of those around them; nothing: unlimited.
std::optional<Bytes> MemoryBound(const FileReader& files);

/// Where the kernel counts its OOM kills, as near to this process as it does.
struct OomCounter {
  enum class Of : std::uint8_t {
    kGroup2,   ///< memory.events of its group
    kGroup1,   ///< memory.oom_control of its group
    kMachine,  ///< /proc/vmstat: strangers' kills included
  };
  Of of = Of::kMachine;
  std::string file;
};
OomCounter FindOomCounter(const FileReader& files);
/// "own group (cgroup version 2)"
std::string_view NameOf(OomCounter::Of of);
std::optional<std::uint64_t> ReadOomKills(const FileReader& files, const OomCounter& counter);

}  // namespace skerry
