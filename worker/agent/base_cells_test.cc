#include "worker/agent/base_cells.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <vector>

#include "common/logging.h"
#include "worker/agent/testing/fake_cell.h"
#include "worker/agent/testing/loop_runner.h"

namespace skerry::agent {
namespace {

class BaseCellsTest : public ::testing::Test, protected CellListener {
 protected:
  BaseCellsTest() {
    (void)InitLogging("test", "off");
    options_.first_delay = Millis(5);
    options_.longest_delay = Millis(20);
    options_.retire_interval = Millis(1);
  }
  void StartWith(std::size_t cells) {
    cells_.emplace(loop_, FakeCells(plan_), static_cast<CellListener&>(*this), stats_, options_, cells);
    cells_->Start([](const Status& started) { EXPECT_TRUE(started); });
    while (cells_->size() < cells) cells_->Grow();
    ASSERT_TRUE(RunUntil(loop_, [&] { return cells_->ready() == cells; }));
  }
  void OnForked(Isolate isolate) override { ++forks_[isolate.cell()]; }
  void OnCellMade(std::unique_ptr<Cell>) override {}
  void OnCellReady() override {}
  void OnCellRetired(CellNumber cell) override { retired_.push_back(cell); }
  void OnForbiddenCalls(std::unique_ptr<ForbiddenCalls>) override {}
  void OnCellHealth(bool healthy) override { health_.push_back(healthy); }

  EventLoop loop_;
  FakeCellPlan plan_;
  WorkerStats stats_;
  CellSupervisor::Options options_;
  std::map<CellNumber, int> forks_;
  std::vector<CellNumber> retired_;
  std::vector<bool> health_;
  std::optional<BaseCells> cells_;  // last: it calls back into the above
};

TEST_F(BaseCellsTest, ShareForksEvenly) {
  StartWith(2);
  cells_->RequestForks(10, 0);
  EXPECT_EQ(cells_->pending(), 10u);
  ASSERT_TRUE(RunUntil(loop_, [&] { return cells_->pending() == 0; }));
  EXPECT_EQ(forks_, (std::map<CellNumber, int>{{1, 5}, {2, 5}}));
}

TEST_F(BaseCellsTest, AreNeverMoreThanTheyMayBe) {
  StartWith(2);
  cells_->Grow();
  EXPECT_EQ(cells_->size(), 2u);
}

TEST_F(BaseCellsTest, OneIsRetiredByItsNumberAndItsSuccessorHasOneThatNoOtherHas) {
  StartWith(2);
  RunFor(loop_, Millis(5));
  cells_->Retire(2, CellRestart::kCrash);
  ASSERT_TRUE(RunUntil(loop_, [&] { return !retired_.empty(); }));
  EXPECT_EQ(retired_, std::vector<CellNumber>{2});
  EXPECT_EQ(plan_.started, 3);
  cells_->RequestForks(4, 0);
  ASSERT_TRUE(RunUntil(loop_, [&] { return cells_->pending() == 0; }));
  EXPECT_EQ(forks_, (std::map<CellNumber, int>{{1, 2}, {4, 2}}));
}

TEST_F(BaseCellsTest, AFurtherOneThatDoesNotStartIsMissedAndNoMore) {
  StartWith(1);
  cells_.emplace(loop_, FakeCells(plan_), static_cast<CellListener&>(*this), stats_, options_, 2);
  cells_->Start([](const Status&) {});
  ASSERT_TRUE(RunUntil(loop_, [&] { return cells_->ready() == 1; }));
  plan_.starts = false;
  cells_->Grow();
  RunFor(loop_, Millis(50));
  EXPECT_EQ(cells_->ready(), 1u);
  cells_->RequestForks(3, 1);
  ASSERT_TRUE(RunUntil(loop_, [&] { return cells_->pending() == 0; }));
  EXPECT_EQ(forks_[1], 3);
  EXPECT_TRUE(health_.empty()) << "forks can be hoped for";
}

TEST_F(BaseCellsTest, ForksThatQueueForAWhileBringAnother) {
  cells_.emplace(loop_, FakeCells(plan_), static_cast<CellListener&>(*this), stats_, options_, 2);
  cells_->Start([](const Status&) {});
  ASSERT_TRUE(RunUntil(loop_, [&] { return cells_->ready() == 1; }));
  const TimePoint until = loop_.Now() + 4 * ForkPressure::kWindow;
  while (cells_->size() == 1 && loop_.Now() < until) {
    cells_->RequestForks(20, 20);
    RunUntil(loop_, [&] { return cells_->pending() == 0; });
  }
  EXPECT_EQ(cells_->size(), 2u);
}

}  // namespace
}  // namespace skerry::agent
