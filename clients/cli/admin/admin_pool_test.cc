#include "clients/cli/admin/admin_pool.h"

#include <gtest/gtest.h>

namespace skerry::cli {
namespace {

Of<wire::WorkerRow> Worker(const std::string& id, const std::string& broker = "b1",
                           const std::string& state = "serving") {
  Of<wire::WorkerRow> worker{broker, {}};
  worker.row.id = SessionId(id);
  worker.row.state = state;
  return worker;
}

TEST(FindWorkers, TakesAnIdOrAsMuchOfItAsTellsItFromOthers) {
  const std::vector all = {Worker("abc1"), Worker("abd2"), Worker("abd2", "b2"), Worker("ab")};
  EXPECT_EQ(FindWorkers(all, "abc")->size(), 1u);
  EXPECT_EQ(FindWorkers(all, "abd")->size(), 2u) << "one worker, which serves two brokers";
  EXPECT_EQ(FindWorkers(all, "ab")->front().row.id.str(), "ab") << "a whole id is no beginning of others";
}

TEST(FindWorkers, SaysWhatToDoWhereThereIsNoneOrMoreThanOne) {
  const std::vector all = {Worker("abc1"), Worker("abd2"), Worker("abe3", "b1", "cutOff")};
  const auto many = FindWorkers(all, "ab");
  ASSERT_FALSE(many);
  EXPECT_EQ(many.error().message, "'ab' is the beginning of 2 workers' ids: write more of it");
  const auto none = FindWorkers(all, "x\x1b");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message,
            "no worker's id begins with 'x?'; `skerry workers ls` shows those that there are");
  EXPECT_FALSE(FindWorkers(all, "abe3")) << "one that was cut off cannot be drained";
}

TEST(AdminPlace, IsAnEndpointWithOrWithoutItsBrokersKey) {
  for (const char* good : {"ipc:///run/skerry/admin", "tcp://127.0.0.1:7003", "tcp://broker.lan:7003",
                           "tcp://broker.lan:7003 rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7"})
    EXPECT_TRUE(CheckAdminPlace(good)) << good;
  for (const char* bad : {"", "nonsense", "file:/etc/brokers", "tcp://broker.lan", "ipc://"})
    EXPECT_FALSE(CheckAdminPlace(bad)) << bad;
}

TEST(AdminPool, DoesNotGoOverTcpWithoutAnOperatorsKey) {
  const auto pool = AdminPool::Open({{"tcp://10.0.0.1:7003"}, "", ""});
  ASSERT_FALSE(pool);
  EXPECT_EQ(pool.error().kind, ErrorKind::kInvalid);
  EXPECT_NE(pool.error().message.find("skerry keygen --role admin"), std::string::npos)
      << pool.error().message;
}

TEST(Merge, AddsWhatTwoBrokersHaveCounted) {
  wire::TenantRow sum;
  sum.weight = 4;
  sum.queued = 1;
  sum.ok = 10;
  sum.errors.entries = {{"OOM", 1}};
  wire::TenantRow more = sum;
  more.weight = 1;
  more.errors.entries = {{"OOM", 2}, {"CRASH", 5}};
  more.named = true;
  Merge(sum, more);
  EXPECT_EQ(sum.weight, 4u) << "what it may have is no sum";
  EXPECT_EQ(sum.queued, 2u);
  EXPECT_EQ(sum.ok, 20u);
  EXPECT_EQ(sum.errors.entries,
            (std::vector<std::pair<std::string, std::uint64_t>>{{"OOM", 3}, {"CRASH", 5}}));
  EXPECT_TRUE(sum.named);
}

}  // namespace
}  // namespace skerry::cli
