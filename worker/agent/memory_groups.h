// The control groups that bound this process' memory, of both versions.
//
// Threads: pure reads of /proc. Errors: what cannot be read is no group.
#pragma once

#include <filesystem>
#include <vector>

namespace skerry::agent {

struct MemoryGroup {
  enum class Version { k1, k2 };
  Version version = Version::k2;
  std::filesystem::path mount;
  /// Below the mount. Inside a container it is the host's path and may not exist here; the mount itself is
  /// then the container's group.
  std::filesystem::path path;
};

/// `root`: where /proc and /sys are, for tests.
std::vector<MemoryGroup> OwnMemoryGroups(const std::filesystem::path& root);

}  // namespace skerry::agent
