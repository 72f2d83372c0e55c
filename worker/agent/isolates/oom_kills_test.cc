#include "worker/agent/isolates/oom_kills.h"

#include <gtest/gtest.h>

#include "worker/agent/testing/fake_root.h"

namespace skerry::agent {
namespace {

const TimePoint kNow{Millis(50'000)};

class OomKillsTest : public ::testing::Test {
 protected:
  void SetCount(int kills) {
    root_.Write("proc/vmstat", "pgfault 77\noom_kill " + std::to_string(kills) + "\nnuma_hit 5\n");
  }
  FakeRoot root_;
};

TEST_F(OomKillsTest, ExplainNothingWhereNothingIsCounted) {
  OomKills kills(root_.path());
  EXPECT_FALSE(kills.Explain(kNow));
}

TEST_F(OomKillsTest, ExplainNothingByWhatWasCountedBeforeTheWorkerBegan) {
  SetCount(9);
  OomKills kills(root_.path());
  EXPECT_FALSE(kills.Explain(kNow));
}

TEST_F(OomKillsTest, ExplainAsManyDeathsAsTheCountRoseByAndNotOneMore) {
  SetCount(9);
  OomKills kills(root_.path());
  SetCount(11);
  EXPECT_TRUE(kills.Explain(kNow));
  EXPECT_TRUE(kills.Explain(kNow));
  EXPECT_FALSE(kills.Explain(kNow));
  SetCount(12);
  EXPECT_TRUE(kills.Explain(kNow));
  EXPECT_FALSE(kills.Explain(kNow));
}

TEST_F(OomKillsTest, ExplainDeathsForASecondAfterTheRiseWasSeenAndNoLonger) {
  SetCount(0);
  for (const bool late : {false, true}) {
    OomKills kills(root_.path());
    SetCount(1);
    kills.Note(kNow);
    const TimePoint reaped = kNow + OomKills::kFresh + (late ? Micros(1) : Micros(0));
    EXPECT_EQ(kills.Explain(reaped), !late);
    SetCount(0);
  }
}

TEST_F(OomKillsTest, ReadTheCountAtHandOversOnceASecondAtMost) {
  SetCount(0);
  OomKills kills(root_.path());
  kills.Note(kNow);
  SetCount(1);
  kills.Note(kNow + OomKills::kFresh - Micros(1));  // not read, so seen only by what comes next
  EXPECT_TRUE(kills.Explain(kNow + OomKills::kFresh * 3));

  kills.Note(kNow + OomKills::kFresh * 10);
  SetCount(2);
  kills.Note(kNow + OomKills::kFresh * 11);  // read
  EXPECT_FALSE(kills.Explain(kNow + OomKills::kFresh * 12 + Micros(1)));
}

TEST_F(OomKillsTest, StartAnewWhereTheCountFalls) {
  SetCount(5);
  OomKills kills(root_.path());
  SetCount(2);
  EXPECT_FALSE(kills.Explain(kNow));
  SetCount(3);
  EXPECT_TRUE(kills.Explain(kNow));
}

TEST_F(OomKillsTest, AreThoseOfTheWorkersOwnGroupWhereThereIsOne) {
  struct Row {
    const char* groups;
    const char* file;
  };
  const Row rows[] = {
      {"0::/a/b\n", "sys/fs/cgroup/a/b/memory.events"},
      {"0::/the/hosts/path\n", "sys/fs/cgroup/memory.events"},
      {"4:memory:/a\n0::/\n", "sys/fs/cgroup/memory/a/memory.oom_control"},
      {"7:cpu,memory:/the/hosts/path\n", "sys/fs/cgroup/memory/memory.oom_control"},
  };
  for (const Row& row : rows) {
    FakeRoot root;
    root.Write("proc/self/cgroup", row.groups);
    root.Write("proc/vmstat", "oom_kill 0\n");
    root.Write(row.file, "oom 4\noom_kill 3\noom_group_kill 1\n");
    OomKills kills(root.path());
    root.Write("proc/vmstat", "oom_kill 1\n");
    EXPECT_FALSE(kills.Explain(kNow)) << row.file << ": a stranger's death elsewhere on the machine";
    root.Write(row.file, "oom 5\noom_kill 4\noom_group_kill 1\n");
    EXPECT_TRUE(kills.Explain(kNow)) << row.file;
  }
}

TEST_F(OomKillsTest, AreTheMachinesWhereTheGroupDoesNotCount) {
  root_.Write("proc/self/cgroup", "4:memory:/a\n0::/b\n");
  root_.Write("sys/fs/cgroup/memory/a/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\n");
  SetCount(0);
  OomKills kills(root_.path());
  SetCount(1);
  EXPECT_TRUE(kills.Explain(kNow));
}

}  // namespace
}  // namespace skerry::agent
