#include "worker/agent/machine.h"

#include <gtest/gtest.h>

#include "worker/agent/testing/fake_root.h"

namespace skerry::agent {
namespace {

class UsableMemoryOf : public ::testing::Test {
 protected:
  UsableMemoryOf() { root_.Write("proc/meminfo", "MemTotal:       2048 kB\nMemFree:  1 kB\n"); }
  FakeRoot root_;
};

TEST_F(UsableMemoryOf, GivesTheRamWhereNoCgroupLimitsIt) {
  EXPECT_EQ(UsableMemory(root_.path()), Bytes::KiB(2048));
  root_.Write("proc/self/cgroup", "0::/a/b\n");
  root_.Write("sys/fs/cgroup/a/b/memory.max", "max\n");
  EXPECT_EQ(UsableMemory(root_.path()), Bytes::KiB(2048));
}

TEST_F(UsableMemoryOf, GivesTheSmallestLimitOnTheWayUpAVersion2Tree) {
  root_.Write("proc/self/cgroup", "0::/a/b\n");
  root_.Write("sys/fs/cgroup/a/b/memory.max", "1000000\n");
  root_.Write("sys/fs/cgroup/a/memory.max", "500000\n");
  EXPECT_EQ(UsableMemory(root_.path()), Bytes(500'000));
}

TEST_F(UsableMemoryOf, ReadsTheMountsOwnLimitInsideAContainer) {
  root_.Write("proc/self/cgroup", "0::/\n");
  root_.Write("sys/fs/cgroup/memory.max", "400000\n");
  EXPECT_EQ(UsableMemory(root_.path()), Bytes(400'000));
}

TEST_F(UsableMemoryOf, ReadsVersion1ByTheMemoryController) {
  root_.Write("proc/self/cgroup", "5:cpu,cpuacct:/x\n4:memory:/docker/1\n");
  root_.Write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  root_.Write("sys/fs/cgroup/memory/docker/1/memory.limit_in_bytes", "300000\n");
  EXPECT_EQ(UsableMemory(root_.path()), Bytes(300'000));
}

TEST(Machine, HasACoreAndSomeMemory) {
  EXPECT_GE(UsableCores(), 1u);
  EXPECT_GT(UsableMemory(), Bytes::MiB(64));
}

}  // namespace
}  // namespace skerry::agent
