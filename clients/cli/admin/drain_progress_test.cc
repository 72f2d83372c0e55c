#include "clients/cli/admin/drain_progress.h"

#include <gtest/gtest.h>

namespace skerry::cli {
namespace {

using Rows = DrainProgress::Rows;

Of<wire::WorkerRow> Row(const std::string& broker, const std::string& id, std::uint64_t used,
                        const std::string& state = "drained") {
  Of<wire::WorkerRow> worker{broker, {}};
  worker.row.id = SessionId(id);
  worker.row.state = state;
  worker.row.used = used;
  return worker;
}

Away Gone(const std::string& broker) {
  return {broker, {ErrorKind::kUnavailable, "no broker answers on " + broker}};
}

TEST(DrainProgress, IsOverWhenNoBrokerHasAJobLeftWithTheWorker) {
  DrainProgress progress({Row("a", "w", 1), Row("b", "w-2", 1)});
  EXPECT_FALSE(progress.over());
  progress.Look({{Row("a", "w", 0), Row("b", "w-2", 1)}, {}});
  EXPECT_FALSE(progress.over()) << "the other still has one";
  progress.Look({{Row("a", "w", 0), Row("b", "w-2", 0)}, {}});
  EXPECT_TRUE(progress.over());
  EXPECT_TRUE(progress.lost().empty());
}

TEST(DrainProgress, OneIdAtTwoBrokersIsTwoRows) {
  DrainProgress progress({Row("a", "w", 0), Row("b", "w", 3)});
  progress.Look({{Row("a", "w", 0), Row("b", "w", 3)}, {}});
  EXPECT_FALSE(progress.over());
}

TEST(DrainProgress, AWorkerThatHasLeftHasNothingLeft) {
  DrainProgress progress({Row("a", "w", 2)});
  progress.Look({{Row("a", "other", 7)}, {}});
  EXPECT_TRUE(progress.over());
  EXPECT_EQ(progress.rows()[0].row.state, "gone");
}

TEST(DrainProgress, ABrokerThatGoesAwayIsNotWaitedForButNamedUnlessItIsBack) {
  DrainProgress progress({Row("a", "w", 1), Row("b", "w-2", 1)});
  progress.Look({{Row("a", "w", 1)}, {Gone("b"), Gone("c")}});
  EXPECT_FALSE(progress.over()) << "the one that answers has a job left";
  ASSERT_EQ(progress.lost().size(), 1u) << "c has none of these workers";
  EXPECT_EQ(progress.lost()[0].broker, "b");
  progress.Look({{Row("a", "w", 0)}, {Gone("b")}});
  EXPECT_TRUE(progress.over());
  progress.Look({{Row("a", "w", 0), Row("b", "w-2", 1)}, {}});
  EXPECT_FALSE(progress.over());
  EXPECT_TRUE(progress.lost().empty());
}

TEST(DrainProgress, ABrokerThatWasStartedAnewHasForgottenIt) {
  DrainProgress progress({Row("a", "w", 1)});
  progress.Look({{Row("a", "w", 5, "serving")}, {}});
  EXPECT_TRUE(progress.over()) << "it would go on for ever";
  ASSERT_EQ(progress.lost().size(), 1u);
  EXPECT_NE(progress.lost()[0].why.message.find("drain again"), std::string::npos);
}

}  // namespace
}  // namespace skerry::cli
