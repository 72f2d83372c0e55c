#include "clients/cli/admin/worker_name.h"

#include <gtest/gtest.h>

namespace skerry::cli {
namespace {

Of<wire::WorkerRow> Row(const std::string& id, const std::string& broker = "b1",
                        const std::string& state = "serving") {
  Of<wire::WorkerRow> worker{broker, {}};
  worker.row.id = SessionId(id);
  worker.row.state = state;
  return worker;
}

constexpr const char* kRack2 = "rack-2/rack-2-1d38c50aba7e4251";

TEST(WorkerOf, IsTheSameForAllSessionsOfAProcessWhateverEachBrokerCallsItsKey) {
  for (const char* session : {kRack2, "rack-2/rack-2-1d38c50aba7e4251-2", "rack-2-1d38c50aba7e4251-64",
                              "r2/rack-2-1d38c50aba7e4251-10"})
    EXPECT_EQ(WorkerOf(SessionId(session)), "rack-2-1d38c50aba7e4251") << session;
}

TEST(WorkerOf, DoesNotTakeForOneWhatOnlyLooksAlike) {
  for (const char* id : {"worker-2", "worker", "rack-1/worker-2", "1d38c50aba7e4251", "w-1d38c50aba7e425",
                         "w-1D38c50aba7e4251", "w1d38c50aba7e4251-2", "w-1d38c50aba7e4251-",
                         "w-1d38c50aba7e4251-x", "w-1d38c50aba7e4251-02", "-2", "2", "", "a/-2"})
    EXPECT_EQ(WorkerOf(SessionId(id)), id);
  EXPECT_NE(WorkerOf(SessionId("a-1d38c50aba7e4251")), WorkerOf(SessionId("a-1d38c50aba7e4252-2")));
}

TEST(FindWorker, TakesAnIdOrAsMuchOfItAsTellsItFromOthers) {
  const std::vector all = {Row("abc1"), Row("abd2"), Row("abd2", "b2"), Row("ab")};
  EXPECT_EQ(FindWorker(all, "abc")->size(), 1u);
  EXPECT_EQ(FindWorker(all, "abd")->size(), 2u) << "one worker, which serves two brokers";
  EXPECT_EQ(FindWorker(all, "ab")->front().row.id.str(), "ab") << "a whole id is no beginning of others";
}

TEST(FindWorker, FindsAWorkerAtAllItsBrokersByAnyOfItsIds) {
  const std::vector all = {Row(kRack2), Row("rack-3/rack-3-0000000000000001"),
                           Row(std::string(kRack2) + "-2", "b2"), Row("two/rack-2-1d38c50aba7e4251-3", "b3")};
  for (const std::string prefix : {"rack-2", kRack2, "rack-2/rack-2-1d38c50aba7e4251-2", "two/"}) {
    const auto found = FindWorker(all, prefix);
    ASSERT_TRUE(found) << found.error().message;
    ASSERT_EQ(found->size(), 3u) << prefix;
    EXPECT_EQ((*found)[1].broker, "b2");
    EXPECT_EQ((*found)[2].broker, "b3");
  }
}

TEST(FindWorker, SaysWhatToDoWhereThereIsNoneOrMoreThanOne) {
  const std::vector all = {Row("abc1"), Row("abd2"), Row("abe3", "b1", "cutOff")};
  const auto many = FindWorker(all, "ab");
  ASSERT_FALSE(many);
  EXPECT_EQ(many.error().kind, ErrorKind::kInvalid);
  EXPECT_EQ(many.error().message,
            "'ab' is the beginning of 2 workers' ids: write more of it, or all of one: abc1, abd2");
  const auto none = FindWorker(all, "x\x1b");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, ErrorKind::kUnavailable) << "a broker that is away may have it";
  EXPECT_EQ(none.error().message,
            "no worker's id begins with 'x?'; `skerry workers ls` shows those that there are");
  EXPECT_FALSE(FindWorker(all, "abe3")) << "one that was cut off cannot be drained";
}

TEST(FindWorker, ListsEightOfManyAndSaysHowManyMoreThereAre) {
  std::vector<Of<wire::WorkerRow>> all;
  for (int i = 0; i < 8; ++i) all.push_back(Row("w" + std::to_string(i)));
  EXPECT_TRUE(FindWorker(all, "w").error().message.ends_with("w6, w7"));
  all.push_back(Row("w8"));
  EXPECT_TRUE(FindWorker(all, "w").error().message.ends_with("w6, w7, … 1 more"));
}

TEST(CountWorkers, CountsAProcessOnceHoweverManyBrokersItServes) {
  const std::vector all = {Row(kRack2), Row(std::string(kRack2) + "-2", "b2", "drained"), Row("other")};
  EXPECT_EQ(CountWorkers(all, [](const wire::WorkerRow&) { return true; }), 2u);
  EXPECT_EQ(CountWorkers(all, [](const wire::WorkerRow& row) { return row.state == "drained"; }), 1u);
}

}  // namespace
}  // namespace skerry::cli
