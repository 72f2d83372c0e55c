#include "tests/support/memory_group.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <thread>

namespace skerry::testing {
namespace {

namespace fs = std::filesystem;

constexpr const char* kController = "/sys/fs/cgroup/memory";
constexpr int kRemovalTries = 200;
constexpr std::chrono::milliseconds kRemovalPause{20};

bool Write(const fs::path& file, const std::string& text) {
  std::ofstream out(file);
  return static_cast<bool>(out << text << std::flush);
}

}  // namespace

std::unique_ptr<MemoryGroup> MemoryGroup::Make(std::uint64_t limit_bytes) {
  std::error_code error;
  if (!fs::exists(fs::path(kController) / "memory.limit_in_bytes", error)) return nullptr;
  static int made = 0;
  const fs::path folder =
      fs::path(kController) / ("skerry-test-" + std::to_string(getpid()) + "-" + std::to_string(++made));
  if (!fs::create_directory(folder, error)) return nullptr;
  std::unique_ptr<MemoryGroup> group(new MemoryGroup(folder));
  if (!Write(folder / "memory.limit_in_bytes", std::to_string(limit_bytes))) return nullptr;
  return group;
}

MemoryGroup::~MemoryGroup() {
  // The last of its processes may still be on their way out.
  for (int tries = 0; ::rmdir(folder_.c_str()) != 0; ++tries) {
    if (tries == kRemovalTries) {
      ADD_FAILURE() << folder_ << " cannot be removed";
      return;
    }
    std::this_thread::sleep_for(kRemovalPause);
  }
}

std::vector<std::string> MemoryGroup::Joining() const {
  return {"/bin/sh", "-c", "echo $$ > '" + (folder_ / "cgroup.procs").string() + "' && exec \"$@\"", "sh"};
}

std::uint64_t MemoryGroup::OomKills() const {
  std::ifstream in(folder_ / "memory.oom_control");
  std::string key;
  for (std::uint64_t value = 0; in >> key >> value;) {
    if (key == "oom_kill") return value;
  }
  return 0;
}

}  // namespace skerry::testing
