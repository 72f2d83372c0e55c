#include "worker/agent/cells/base_cells.h"

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
  void StartOneOf(std::size_t most) {
    cells_.emplace(loop_, FakeCells(plan_), static_cast<CellListener&>(*this), stats_, options_, most,
                   pressure_);
    cells_->Start([](const Status& started) { EXPECT_TRUE(started); });
    ASSERT_TRUE(RunUntil(loop_, [&] { return cells_->ready() == 1; }));
  }
  void StartWith(std::size_t cells) {
    StartOneOf(cells);
    while (cells_->size() < cells) cells_->Grow();
    ASSERT_TRUE(RunUntil(loop_, [&] { return cells_->ready() == cells; }));
  }
  std::uint64_t Restarts(CellRestart reason) const {
    return stats_.cell_restarts[static_cast<std::size_t>(reason)];
  }
  void OnForked(Isolate isolate) override { ++forks_[isolate.cell()]; }
  void OnCellMade(std::unique_ptr<Cell>) override {}
  void OnCellReady() override {}
  void OnCellLost() override { pending_at_loss_.push_back(cells_->pending()); }
  void OnCellRetired(CellNumber cell) override { retired_.push_back(cell); }
  void OnForbiddenCalls(std::unique_ptr<ForbiddenCalls>) override {}
  void OnCellHealth(bool healthy) override { health_.push_back(healthy); }

  EventLoop loop_;
  FakeCellPlan plan_;
  WorkerStats stats_;
  CellSupervisor::Options options_;
  ForkPressure::Options pressure_;
  std::map<CellNumber, int> forks_;
  std::vector<CellNumber> retired_;
  std::vector<bool> health_;
  std::vector<std::size_t> pending_at_loss_;
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
  StartOneOf(2);
  plan_.starts = false;
  cells_->Grow();
  ASSERT_TRUE(RunUntil(loop_, [&] { return Restarts(CellRestart::kStartFailed) >= 4; }));
  EXPECT_EQ(cells_->ready(), 1u);
  cells_->RequestForks(3, 1);
  ASSERT_TRUE(RunUntil(loop_, [&] { return cells_->pending() == 0; }));
  EXPECT_EQ(forks_[1], 3);
  EXPECT_TRUE(health_.empty()) << "forks can be hoped for";
}

TEST_F(BaseCellsTest, AFurtherOneThatDidNotStartComesOnceItCan) {
  StartOneOf(2);
  plan_.starts = false;
  cells_->Grow();
  ASSERT_TRUE(RunUntil(loop_, [&] { return Restarts(CellRestart::kStartFailed) >= 1; }));
  plan_.starts = true;
  EXPECT_TRUE(RunUntil(loop_, [&] { return cells_->ready() == 2; }));
  EXPECT_EQ(cells_->size(), 2u);
}

TEST_F(BaseCellsTest, AreInBadHealthWhenTheFirstDiesAndAFurtherOneNeverStarted) {
  StartOneOf(2);
  plan_.starts = false;
  cells_->Grow();
  ASSERT_TRUE(RunUntil(loop_, [&] { return Restarts(CellRestart::kStartFailed) >= 1; }));
  plan_.fork = FakeCellPlan::Fork::kKillsCell;
  cells_->RequestForks(1, 1);
  ASSERT_TRUE(RunUntil(loop_, [&] { return !health_.empty(); }));
  EXPECT_EQ(health_, std::vector<bool>{false});
  EXPECT_EQ(cells_->ready(), 0u);
  plan_.fork = FakeCellPlan::Fork::kGood;
  plan_.starts = true;
  ASSERT_TRUE(RunUntil(loop_, [&] { return cells_->ready() == 2 && health_.size() == 2; }));
  EXPECT_TRUE(health_.back());
}

TEST_F(BaseCellsTest, OneThatIsLostSaysSoOnceWhatWasAskedOfItDoesNotCountAnyMore) {
  StartWith(2);
  plan_.fork = FakeCellPlan::Fork::kNever;
  cells_->RequestForks(2, 2);
  EXPECT_EQ(cells_->pending(), 2u);
  plan_.fork = FakeCellPlan::Fork::kKillsCell;
  cells_->RequestForks(1, 3);
  ASSERT_TRUE(RunUntil(loop_, [&] { return !pending_at_loss_.empty(); }));
  EXPECT_EQ(pending_at_loss_, std::vector<std::size_t>{1}) << "the other's";
}

TEST_F(BaseCellsTest, EachIsJudgedByItsOwnIsolates) {
  StartWith(2);
  for (int i = 0; i < 7; ++i) {
    EXPECT_FALSE(cells_->NoteHandOver(1, HandOver::kFailed));
    EXPECT_FALSE(cells_->NoteHandOver(2, HandOver::kWorked));
    EXPECT_FALSE(cells_->NoteHandOver(7, HandOver::kFailed)) << "it is gone";
  }
  EXPECT_TRUE(cells_->NoteHandOver(1, HandOver::kFailed));
  EXPECT_TRUE(cells_->first().retiring());
  EXPECT_FALSE(cells_->NoteHandOver(2, HandOver::kFailed)) << "its first";
  EXPECT_EQ(Restarts(CellRestart::kUseless), 1u);
}

TEST_F(BaseCellsTest, OneThatIsAboutToGoIsAskedOnlyWhereThereIsNoOther) {
  options_.retire_interval = Millis(60'000);
  StartWith(2);
  cells_->Retire(1, CellRestart::kCrash);
  cells_->RequestForks(6, 0);
  ASSERT_TRUE(RunUntil(loop_, [&] { return cells_->pending() == 0; }));
  EXPECT_EQ(forks_, (std::map<CellNumber, int>{{2, 6}}));
  cells_->Retire(2, CellRestart::kCrash);
  cells_->RequestForks(2, 0);
  ASSERT_TRUE(RunUntil(loop_, [&] { return cells_->pending() == 0; }));
  EXPECT_EQ(forks_, (std::map<CellNumber, int>{{1, 1}, {2, 7}}));
}

TEST_F(BaseCellsTest, ForksThatQueueForAWhileBringAnother) {
  pressure_ = {.window = Millis(100), .least_forks = 10};
  StartOneOf(2);
  ASSERT_TRUE(RunUntil(loop_, [&] {
    if (cells_->pending() == 0) cells_->RequestForks(20, 20);
    return cells_->size() > 1;
  }));
  EXPECT_EQ(cells_->size(), 2u);
}

}  // namespace
}  // namespace skerry::agent
