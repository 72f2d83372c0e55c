#include "worker/agent/machine.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "common/memory_groups.h"

namespace skerry::agent {
namespace {

namespace fs = std::filesystem;

Bytes Ram(const fs::path& root) {
  std::ifstream in(root / "proc/meminfo");
  std::string key;
  std::uint64_t kib = 0;
  std::string rest;
  while (in >> key >> kib && std::getline(in, rest)) {
    if (key == "MemTotal:") return Bytes::KiB(kib);
  }
  return Bytes::MiB(1024);
}

}  // namespace

std::string BesideOwnBinary(const std::string& name) {
  std::error_code error;
  const auto own = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? name : (own.parent_path() / name).string();
}

unsigned UsableCores() {
  return std::max(1u, std::thread::hardware_concurrency());
}

Bytes UsableMemory(const fs::path& root) {
  const Bytes ram = Ram(root);
  return std::min(ram, MemoryBound(FilesUnder(root)).value_or(ram));
}

}  // namespace skerry::agent
