#include "tests/support/places.h"

#include <stdlib.h>

#include <fstream>
#include <sstream>
#include <stdexcept>

namespace skerry::testing {
namespace {

std::filesystem::path BinDir() {
  const char* chosen = getenv("SKERRY_BIN_DIR");
  return chosen != nullptr ? chosen : SKERRY_BIN_DIR;
}

}  // namespace

std::filesystem::path Binary(const std::string& name) {
  return BinDir() / name;
}

bool StackIsBuilt() {
  for (const char* name : {"skerry", "skerry-broker", "skerry-worker", "skerry-cell"}) {
    if (!std::filesystem::exists(Binary(name))) return false;
  }
  return true;
}

std::filesystem::path SourceRoot() {
  return SKERRY_SOURCE_ROOT;
}

std::filesystem::path NodeBinary() {
  return SKERRY_NODE_BINARY;
}

std::optional<std::filesystem::path> SharedFile(const std::string& name) {
  const char* chosen = getenv("SKERRY_SHARED_DIR");
  const std::filesystem::path path =
      (chosen != nullptr ? std::filesystem::path(chosen) : SourceRoot().parent_path() / "shared") / name;
  if (!std::filesystem::exists(path)) return std::nullopt;
  return path;
}

std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void WriteFile(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

TempDir::TempDir() {
  std::string pattern = (std::filesystem::temp_directory_path() / "skerry-test-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp failed for " + pattern);
  path_ = pattern;
}

TempDir::~TempDir() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace skerry::testing
