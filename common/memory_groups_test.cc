#include "common/memory_groups.h"

#include <gtest/gtest.h>

#include <map>

namespace skerry {
namespace {

class MemoryGroups : public ::testing::Test {
 protected:
  std::map<std::string, std::string> texts_;
  const FileReader files_ = [this](const std::string& path) {
    const auto found = texts_.find(path);
    return found == texts_.end() ? std::nullopt : std::optional<std::string>(found->second);
  };
};

TEST_F(MemoryGroups, WithoutAnyNothingIsBoundAndTheMachineCounts) {
  EXPECT_FALSE(MemoryBound(files_));
  const OomCounter counter = FindOomCounter(files_);
  EXPECT_EQ(counter.of, OomCounter::Of::kMachine);
  EXPECT_FALSE(ReadOomKills(files_, counter));
  texts_["/proc/vmstat"] = "pgfault 7\noom_kill 3\n";
  EXPECT_EQ(ReadOomKills(files_, counter), 3u);
}

TEST_F(MemoryGroups, OfVersion1HaveTheirLimitAndCounterRead) {
  texts_["/proc/self/cgroup"] = "5:cpu,cpuacct:/x\n4:memory:/docker/1\n0::/\n";
  texts_["/sys/fs/cgroup/memory/docker/1/memory.limit_in_bytes"] = "314572800\n";
  texts_["/sys/fs/cgroup/memory/docker/1/memory.oom_control"] =
      "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n";
  EXPECT_EQ(MemoryBound(files_), Bytes::MiB(300));
  const OomCounter counter = FindOomCounter(files_);
  EXPECT_EQ(counter.of, OomCounter::Of::kGroup1);
  EXPECT_EQ(ReadOomKills(files_, counter), 2u);
}

TEST_F(MemoryGroups, OfVersion2HaveTheirLimitAndCounterRead) {
  texts_["/proc/self/cgroup"] = "0::/a/b\n";
  texts_["/sys/fs/cgroup/a/memory.max"] = "1000\n";
  texts_["/sys/fs/cgroup/a/b/memory.max"] = "max\n";
  texts_["/sys/fs/cgroup/a/b/memory.events"] = "low 0\noom 1\noom_kill 1\n";
  EXPECT_EQ(MemoryBound(files_), Bytes(1000));
  EXPECT_EQ(FindOomCounter(files_).of, OomCounter::Of::kGroup2);
}

TEST_F(MemoryGroups, TheNumberThatVersion1ShowsWithoutALimitIsNone) {
  texts_["/proc/self/cgroup"] = "4:memory:/\n";
  texts_["/sys/fs/cgroup/memory/memory.limit_in_bytes"] = "9223372036854771712\n";
  EXPECT_FALSE(MemoryBound(files_));
  texts_["/sys/fs/cgroup/memory/memory.limit_in_bytes"] = "4611686018427387904\n";  // 2^62
  EXPECT_FALSE(MemoryBound(files_));
  texts_["/sys/fs/cgroup/memory/memory.limit_in_bytes"] = "4611686018427387903\n";
  EXPECT_TRUE(MemoryBound(files_));
}

}  // namespace
}  // namespace skerry
