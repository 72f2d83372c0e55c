// A folder that lives as long as a test.
//
// Ownership: removes what is in it. Threads: any.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace skerry::testing {

/// A folder for one test.
class TestFolder {
 public:
  TestFolder() {
    std::string pattern = ::testing::TempDir() + "skerry-clients-XXXXXX";
    if (mkdtemp(pattern.data()) != nullptr) path_ = pattern;
  }
  ~TestFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace skerry::testing
