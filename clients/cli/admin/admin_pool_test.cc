#include "clients/cli/admin/admin_pool.h"

#include <gtest/gtest.h>

#include "clients/cli/admin/worker_name.h"
#include "clients/cpp/testing/played_broker.h"
#include "clients/cpp/testing/test_folder.h"

namespace skerry::cli {
namespace {

using skerry::testing::TestFolder;
using testing::PlayedBroker;

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

wire::WorkerRow Worker(const std::string& id) {
  wire::WorkerRow worker;
  worker.id = SessionId(id);
  worker.state = "serving";
  return worker;
}

class TwoPlayedBrokers : public ::testing::Test {
 protected:
  static AdminPool Open(const std::vector<std::string>& places) {
    auto pool = AdminPool::Open({places, "", ""});
    EXPECT_TRUE(pool) << pool.error().message;
    return *std::move(pool);
  }
  TestFolder folder_;
  const std::string first_ = "ipc://" + folder_ / "1", second_ = "ipc://" + folder_ / "2";
};

TEST_F(TwoPlayedBrokers, EachRowSaysWhoseItIsAndAWorkerOfBothIsToldAtBoth) {
  PlayedBroker first(first_, {Worker("rack-2/w-1d38c50aba7e4251"), Worker("rack-3/w-ffffffffffffffff")});
  PlayedBroker second(second_, {Worker("rack-2/w-1d38c50aba7e4251-2")});
  AdminPool pool = Open({first_, second_});
  const auto workers = pool.Workers();
  ASSERT_TRUE(workers) << workers.error().message;
  ASSERT_EQ(workers->said.size(), 3u);
  EXPECT_EQ(workers->said[2].broker, second_);
  const auto worker = FindWorker(workers->said, "rack-2");
  ASSERT_TRUE(worker) << worker.error().message;
  for (const auto& row : *worker)
    EXPECT_EQ(pool.Tell(row, wire::question::kDrain)->state, "drained") << row.broker;
  EXPECT_EQ(first.Drained(), std::set<std::string>{"rack-2/w-1d38c50aba7e4251"});
  EXPECT_EQ(second.Drained(), std::set<std::string>{"rack-2/w-1d38c50aba7e4251-2"});
}

TEST_F(TwoPlayedBrokers, OneThatIsAwayIsNamedBesideWhatTheOtherSaysUntilItIsBack) {
  PlayedBroker second(second_, {Worker("b")});
  AdminPool pool = Open({first_, second_});
  PoolSample sample = pool.Sample();
  ASSERT_EQ(sample.away.size(), 1u);
  EXPECT_EQ(sample.away[0].broker, first_);
  EXPECT_NE(sample.away[0].why.message.find("there is no socket at"), std::string::npos);
  EXPECT_EQ(sample.brokers.size(), 1u);
  EXPECT_EQ(sample.workers.size(), 1u);
  EXPECT_EQ(pool.Workers()->away.size(), 1u);
  EXPECT_EQ(pool.Tenants()->away.size(), 1u);
  EXPECT_EQ(pool.Tenant("acme")->away.size(), 1u);
  const PlayedBroker first(first_, {Worker("a")});
  for (int tries = 0; tries < 500 && !sample.away.empty(); ++tries) sample = pool.Sample();
  EXPECT_EQ(sample.brokers.size(), 2u);
  EXPECT_EQ(sample.workers.size(), 2u);
}

TEST_F(TwoPlayedBrokers, ThatNoneAnswersIsAnErrorThatNamesEach) {
  AdminPool pool = Open({first_, second_});
  EXPECT_TRUE(pool.Sample().brokers.empty());
  const auto workers = pool.Workers();
  ASSERT_FALSE(workers);
  EXPECT_EQ(workers.error().kind, ErrorKind::kUnavailable);
  EXPECT_NE(workers.error().message.find(first_), std::string::npos) << workers.error().message;
  EXPECT_NE(workers.error().message.find(second_), std::string::npos) << workers.error().message;
  EXPECT_FALSE(pool.Tenants());
}

}  // namespace
}  // namespace skerry::cli
