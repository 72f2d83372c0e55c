// The kernel's OOM killer strikes among a worker's isolates: its group has less memory than its jobs may use.
#include "tests/integration/metrics_fixture.h"
#include "tests/support/memory_group.h"

namespace skerry::testing {
namespace {

// Room for a worker, its cell and a small job, and less than one job's memoryMb.
constexpr std::uint64_t kGroupBytes = 200u << 20;

// Within its memoryMb, and past what the group has: a MiB every few milliseconds, up to 240.
Job Filler(const std::string& retry) {
  return Job("filler",
             "const hold=[];for(let i=0;i<240;i++){hold.push(new Uint8Array(1<<20).fill(1));"
             "const t=Date.now();while(Date.now()-t<5);}return hold.length")
      .Limit("memoryMb", 256)
      .Set("retry", retry);
}

// In flight for longer than the filler can be.
Job Neighbour() {
  return Job("neighbour", "let s=0;for(let i=0;i<18;i++)s+=await dataProxy.request('tick');return s")
      .Tenant("neighbour");
}

RunOptions Ticking() {
  return {.fixtures = Json{{"tick", {{"$value", 1}, {"$delayMs", 150}}}}};
}

class OomKiller : public ::testing::Test {
 protected:
  void SetUp() override {
    group_ = MemoryGroup::Make(kGroupBytes);
    if (!group_) GTEST_SKIP() << MemoryGroup::kWhyNot;
    watched_ = std::make_unique<WatchedPool>(
        PoolOptions{.isolates = 2, .spares = 0, .memory_mb = 2048, .worker_prefix = group_->Joining()});
  }
  Pool& pool() { return watched_->pool; }
  /// What the worker's isolates have come to, once there are `count` of them.
  Moved ExitsOf(double count) {
    const MetricsPage page = watched_->Await(
        [&](const MetricsPage& now) { return now.Sum("skerry_isolate_exits_total") >= count; });
    return page.Since(MetricsPage(), "skerry_isolate_exits_total");
  }

  std::unique_ptr<MemoryGroup> group_;  // before the pool: removed when its processes have gone
  std::unique_ptr<WatchedPool> watched_;
};

TEST_F(OomKiller, EndsTheJobThatItTookAsOutOfMemoryAndTouchesNoNeighbour) {
  const auto report = pool().Run({Neighbour(), Filler("never")}, Ticking());
  ASSERT_EQ(group_->OomKills(), 1u) << Shown(report.At("filler")) << pool().Logs();
  const JobResult& filler = report.At("filler");
  EXPECT_TRUE(IsError(filler, "OOM")) << "no limit of its own has tripped";
  EXPECT_EQ(filler.Error("fault"), "infrastructure");
  EXPECT_EQ(filler.Error("retryable"), true);
  EXPECT_EQ(filler.Error("started"), true);
  EXPECT_NE(filler.message().find("ran out of memory"), std::string::npos) << Shown(filler);
  EXPECT_LT(filler.Usage("memoryPeakBytes"), kGroupBytes);
  EXPECT_TRUE(IsOk(report.At("neighbour"), 18));
  EXPECT_EQ(report.At("neighbour").Field("attempt"), 1);
  EXPECT_EQ(ExitsOf(2), (Moved{{Label("cause", "oom_kill"), 1}, {Label("cause", "finished"), 1}}));
  EXPECT_EQ(watched_->Page().Sum("skerry_limit_trips_total"), 0);
}

TEST_F(OomKiller, HasAJobThatMayRunAgainRunOnceMore) {
  const auto report = pool().Run({Filler("safe")});
  EXPECT_EQ(group_->OomKills(), 2u) << pool().Logs();
  EXPECT_TRUE(IsError(report.At("filler"), "OOM"));
  EXPECT_EQ(report.At("filler").Field("attempt"), 2);
  EXPECT_EQ(ExitsOf(2), (Moved{{Label("cause", "oom_kill"), 2}}));
  EXPECT_TRUE(IsOk(pool().RunOne(Job("next", "return 1+1")), 2)) << pool().Logs();
}

TEST_F(OomKiller, IsNotBlamedForAJobThatOutgrowsItsOwnBudget) {
  const JobResult result = pool().RunOne(Filler("never").Limit("memoryMb", 16));
  EXPECT_TRUE(IsError(result, "OOM", "memoryMb"));
  EXPECT_EQ(group_->OomKills(), 0u);
}

}  // namespace
}  // namespace skerry::testing
