#include "worker/agent/machine.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>

namespace skerry::agent {
namespace {

namespace fs = std::filesystem;

class FakeRoot : public ::testing::Test {
 protected:
  FakeRoot() {
    std::string name = (fs::temp_directory_path() / "skerry-machine-XXXXXX").string();
    root_ = ::mkdtemp(name.data());
    Write("proc/meminfo", "MemTotal:       2048 kB\nMemFree:  1 kB\n");
  }
  ~FakeRoot() override { fs::remove_all(root_); }

  void Write(const fs::path& file, const std::string& text) {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text;
  }
  fs::path root_;
};

TEST_F(FakeRoot, GivesTheRamWhereNoCgroupLimitsIt) {
  EXPECT_EQ(UsableMemory(root_), Bytes::KiB(2048));
  Write("proc/self/cgroup", "0::/a/b\n");
  Write("sys/fs/cgroup/a/b/memory.max", "max\n");
  EXPECT_EQ(UsableMemory(root_), Bytes::KiB(2048));
}

TEST_F(FakeRoot, GivesTheSmallestLimitOnTheWayUpAVersion2Tree) {
  Write("proc/self/cgroup", "0::/a/b\n");
  Write("sys/fs/cgroup/a/b/memory.max", "1000000\n");
  Write("sys/fs/cgroup/a/memory.max", "500000\n");
  EXPECT_EQ(UsableMemory(root_), Bytes(500'000));
}

TEST_F(FakeRoot, ReadsTheMountsOwnLimitInsideAContainer) {
  Write("proc/self/cgroup", "0::/\n");
  Write("sys/fs/cgroup/memory.max", "400000\n");
  EXPECT_EQ(UsableMemory(root_), Bytes(400'000));
}

TEST_F(FakeRoot, ReadsVersion1ByTheMemoryController) {
  Write("proc/self/cgroup", "5:cpu,cpuacct:/x\n4:memory:/docker/1\n");
  Write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  Write("sys/fs/cgroup/memory/docker/1/memory.limit_in_bytes", "300000\n");
  EXPECT_EQ(UsableMemory(root_), Bytes(300'000));
}

TEST(Machine, HasACoreAndSomeMemory) {
  EXPECT_GE(UsableCores(), 1u);
  EXPECT_GT(UsableMemory(), Bytes::MiB(64));
}

}  // namespace
}  // namespace skerry::agent
