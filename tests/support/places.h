// Where the tests find what they run and read, and where they put their own files.
//
// Threads: pure look-ups. Ownership: a TempDir removes its folder.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace skerry::testing {

/// build/<preset>/bin/NAME; the environment's SKERRY_BIN_DIR comes before the folder compiled in.
std::filesystem::path Binary(const std::string& name);

/// Whether the whole stack is built; a test that needs it and does not find it must fail, not skip.
bool StackIsBuilt();

/// The repository's root.
std::filesystem::path SourceRoot();

/// Node itself: the host binary run with no preload.
std::filesystem::path NodeBinary();

/// A file of the shared data (SKERRY_SHARED_DIR, else ../shared beside the repository), if it is there.
std::optional<std::filesystem::path> SharedFile(const std::string& name);

std::string ReadFile(const std::filesystem::path& path);
void WriteFile(const std::filesystem::path& path, const std::string& text);

/// A folder of mode 0700 under the system's temporary folder. Its path is short enough for a Unix socket.
class TempDir {
 public:
  TempDir();
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace skerry::testing
