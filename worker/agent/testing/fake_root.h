// A folder in the place of /, for what reads /proc and /sys.
//
//   FakeRoot root;
//   root.Write("proc/self/cgroup", "0::/a/b\\n");
//
// Threads: one test's. Ownership: removed with it. Errors: none; a file that cannot be written is not there.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace skerry::agent {

class FakeRoot {
 public:
  FakeRoot() {
    std::string name = (std::filesystem::temp_directory_path() / "skerry-root-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~FakeRoot() { std::filesystem::remove_all(path_); }
  FakeRoot(const FakeRoot&) = delete;
  FakeRoot& operator=(const FakeRoot&) = delete;

  void Write(const std::filesystem::path& file, const std::string& text) {
    std::filesystem::create_directories((path_ / file).parent_path());
    std::ofstream(path_ / file) << text;
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace skerry::agent
