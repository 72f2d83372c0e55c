#include "worker/agent/isolates/isolate_manager.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <vector>

#include "common/logging.h"
#include "worker/agent/testing/fake_cell.h"
#include "worker/agent/testing/loop_runner.h"

namespace skerry::agent {
namespace {

using Fork = FakeCellPlan::Fork;

class IsolateManagerTest : public ::testing::Test {
 protected:
  IsolateManagerTest() {
    (void)InitLogging("test", "off");
    options_.max_concurrent_isolates = 3;
    options_.max_spares = 2;
    options_.worker_memory_mb = 1024;
    options_.max_wait = Millis(200);
    options_.cells.first_delay = Millis(5);
    options_.cells.longest_delay = Millis(20);
    options_.cells.retire_interval = Millis(30);
  }

  IsolateManager& Start() {
    manager_.emplace(loop_, FakeCells(plan_), options_);
    manager_->set_on_health([this](bool healthy) { health_.push_back(healthy); });
    manager_->Start([this](const Status& status) { started_ = status.has_value(); });
    EXPECT_TRUE(RunUntil(loop_, [&] { return started_.has_value(); }));
    return *manager_;
  }
  bool SparesAre(std::size_t count) {
    return RunUntil(
        loop_, [&] { return manager_->spares() == count; }, Millis(2'000));
  }

  std::uint64_t Count(CellRestart restart) const {
    return manager_->Figures().cell_restarts[static_cast<std::size_t>(restart)];
  }
  std::uint64_t Count(IsolateExit exit) const {
    return manager_->Figures().exits[static_cast<std::size_t>(exit)];
  }
  /// Every restart counted is of this reason, and there are some.
  void ExpectRestartsFor(CellRestart reason) const {
    EXPECT_GE(Count(reason), 1u);
    for (std::size_t i = 0; i < kCellRestartCount; ++i) {
      const auto other = static_cast<CellRestart>(i);
      if (other == reason) continue;
      EXPECT_EQ(Count(other), 0u) << NameOf(other);
    }
  }

  EventLoop loop_;
  FakeCellPlan plan_;
  IsolateManager::Options options_;
  std::optional<IsolateManager> manager_;
  std::optional<bool> started_;
  std::vector<bool> health_;
};

TEST_F(IsolateManagerTest, ForksSparesAheadOfNeedAndNeverMoreThanItsBound) {
  IsolateManager& manager = Start();
  ASSERT_TRUE(SparesAre(2));
  RunFor(loop_, Millis(30));
  EXPECT_EQ(plan_.forks, 2);
  {
    const auto isolate = manager.TakeSpare();
    ASSERT_TRUE(isolate);
    EXPECT_GT(isolate->pid(), 0);
    EXPECT_EQ(manager.spares(), 1u);
    ASSERT_TRUE(SparesAre(2));
  }
  EXPECT_EQ(plan_.forks, 3);
  std::uint64_t timed = 0;
  const WorkerStats figures = manager.Figures();
  for (const std::uint64_t count : figures.fork_times.counts()) timed += count;
  EXPECT_EQ(timed, 3u);
  EXPECT_EQ(figures.spares, 2u);
  EXPECT_EQ(figures.cells, 1u);
}

TEST_F(IsolateManagerTest, AsksAgainWhenTooManyDescriptorsWereOnTheirWayAndKeepsTheCell) {
  plan_.requests_refused = 3;
  Start();
  ASSERT_TRUE(SparesAre(2));
  EXPECT_EQ(plan_.requests_refused, 0);
  EXPECT_EQ(plan_.started, 1);
}

TEST_F(IsolateManagerTest, SetsMemoryAsideForCellsAndSparesAndLeasesOnlyTheRest) {
  IsolateManager& manager = Start();
  const std::uint64_t for_jobs = 1024 - 2 * IsolateManager::kCellMb - 2 * IsolateManager::kSpareMb;
  EXPECT_EQ(manager.ledger().memory_mb(), for_jobs);
  EXPECT_FALSE(manager.Acquire(for_jobs + 1));
  EXPECT_TRUE(manager.Acquire(for_jobs));
}

TEST_F(IsolateManagerTest, RefusesALeasePastItsBoundByName) {
  IsolateManager& manager = Start();
  std::vector<Lease> leases;
  for (int i = 0; i < 3; ++i) leases.push_back(std::move(*manager.Acquire(10)));
  const auto refused = manager.Acquire(10);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "IsolateManager at capacity (3)");
}

TEST_F(IsolateManagerTest, ForksForAWaitingJobWhereThereAreNoSpares) {
  options_.max_spares = 0;
  IsolateManager& manager = Start();
  EXPECT_FALSE(manager.TakeSpare());
  std::optional<Isolate> got;
  const auto ticket = manager.Await([&](Result<Isolate> isolate) { got.emplace(std::move(*isolate)); });
  ASSERT_TRUE(RunUntil(loop_, [&] { return got.has_value(); }));
  EXPECT_EQ(plan_.forks, 1);
  EXPECT_EQ(manager.spares(), 0u);
}

TEST_F(IsolateManagerTest, ServesWaitingJobsInOrderAndBeforeSpares) {
  plan_.fork = Fork::kNever;
  IsolateManager& manager = Start();
  std::string order;
  const auto first = manager.Await([&](Result<Isolate> isolate) { order += isolate ? 'a' : '-'; });
  auto second = manager.Await([&](Result<Isolate> isolate) { order += isolate ? 'b' : '-'; });
  const auto third = manager.Await([&](Result<Isolate> isolate) { order += isolate ? 'c' : '-'; });
  second.Leave();
  EXPECT_EQ(manager.waiting(), 2u);
  // What was asked for does not come; the cell is found hanging, and its successor forks.
  plan_.fork = Fork::kGood;
  manager.Retire(1);
  ASSERT_TRUE(RunUntil(loop_, [&] { return order.size() == 2; }));
  EXPECT_EQ(order, "ac");
  EXPECT_TRUE(SparesAre(2));
}

TEST_F(IsolateManagerTest, GivesUpOnAForkAfterItsTime) {
  plan_.fork = Fork::kNever;
  IsolateManager& manager = Start();
  std::string message;
  const auto ticket = manager.Await([&](Result<Isolate> isolate) { message = isolate.error().message; });
  ASSERT_TRUE(RunUntil(loop_, [&] { return !message.empty(); }));
  EXPECT_NE(message.find("200 ms"), std::string::npos) << message;
}

TEST_F(IsolateManagerTest, ReplacesASpareThatDies) {
  options_.max_spares = 1;
  plan_.fork = Fork::kDiesIdle;
  Start();
  ASSERT_TRUE(RunUntil(loop_, [&] { return plan_.forks >= 2; })) << "its death alone asks for another";
  plan_.fork = Fork::kGood;
  EXPECT_TRUE(SparesAre(1));
  RunFor(loop_, Millis(20));
  EXPECT_EQ(manager_->spares(), 1u);
}

TEST_F(IsolateManagerTest, ReplacesACellWhoseIsolatesDoNotTakeTheirJobs) {
  IsolateManager& manager = Start();
  for (int i = 0; i < 7; ++i) manager.NoteHandOver(1, HandOver::kFailed);
  manager.NoteHandOver(1, HandOver::kWorked);
  for (int i = 0; i < 7; ++i) manager.NoteHandOver(1, HandOver::kFailed);
  RunFor(loop_, Millis(60));
  EXPECT_EQ(plan_.started, 1);
  manager.NoteHandOver(1, HandOver::kFailed);
  EXPECT_TRUE(RunUntil(loop_, [&] { return plan_.started == 2; }));
  ExpectRestartsFor(CellRestart::kUseless);
}

TEST_F(IsolateManagerTest, RenewsACellWhoseIsolatesDieIdleInsteadOfForkingForEver) {
  plan_.fork = Fork::kDiesIdle;
  Start();
  ASSERT_TRUE(RunUntil(loop_, [&] { return plan_.started >= 2; }));
  EXPECT_LT(plan_.forks, 40);
  EXPECT_GE(Count(IsolateExit::kDiedIdle), 8u);
  plan_.fork = Fork::kGood;
  EXPECT_TRUE(SparesAre(2));
}

TEST_F(IsolateManagerTest, KeepsServingWhileARetiredCellIsReplacedAndThenDropsItsSpares) {
  plan_.start_delay_ms = 0;
  IsolateManager& manager = Start();
  ASSERT_TRUE(SparesAre(2));
  plan_.start_delay_ms = 60;
  manager.Retire(1);
  auto isolate = manager.TakeSpare();
  ASSERT_TRUE(isolate);
  EXPECT_EQ(isolate->cell(), 1u) << "the old one serves on";
  ASSERT_TRUE(RunUntil(loop_, [&] { return plan_.started == 2 && plan_.alive == 1; }));
  ASSERT_TRUE(SparesAre(2));
  for (int i = 0; i < 2; ++i) EXPECT_EQ(manager.TakeSpare()->cell(), 2u);
  ExpectRestartsFor(CellRestart::kCrash);
  EXPECT_EQ(Count(IsolateExit::kDiscarded), 2u);
}

TEST_F(IsolateManagerTest, IgnoresTheRetirementOfACellThatIsGoneAlready) {
  IsolateManager& manager = Start();
  manager.Retire(7);
  RunFor(loop_, Millis(60));
  EXPECT_EQ(plan_.started, 1);
}

TEST_F(IsolateManagerTest, RenewsACellByItsNumberOfForksAndKeepsItsSpares) {
  options_.cells.max_forks = 5;
  IsolateManager& manager = Start();
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(RunUntil(loop_, [&] { return manager.spares() > 0; }));
    EXPECT_TRUE(manager.TakeSpare());
  }
  EXPECT_GE(plan_.started, 3);
  EXPECT_EQ(plan_.alive, 1);
  ExpectRestartsFor(CellRestart::kForks);
}

TEST_F(IsolateManagerTest, ServesEveryJobAtOnceFromTheOldCellWhileItsSuccessorStarts) {
  options_.cells.max_forks = 5;
  IsolateManager& manager = Start();
  plan_.starts_held = true;
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(SparesAre(2)) << "after " << i;
    EXPECT_EQ(manager.TakeSpare()->cell(), 1u);
  }
  EXPECT_EQ(plan_.started, 1);
  EXPECT_EQ(Count(CellRestart::kForks), 1u) << "one successor is enough";
  // A job that waits for a fork when the cells change places gets it from the new one.
  ASSERT_TRUE(SparesAre(2));
  plan_.fork = Fork::kNever;
  while (manager.TakeSpare()) {
  }
  std::optional<CellNumber> got;
  const auto ticket = manager.Await([&](Result<Isolate> isolate) { got = isolate ? isolate->cell() : 0; });
  plan_.fork = Fork::kGood;
  plan_.starts_held = false;
  ASSERT_TRUE(RunUntil(loop_, [&] { return got.has_value(); }));
  EXPECT_EQ(got, 2u);
}

TEST_F(IsolateManagerTest, RenewsACellByAge) {
  options_.cells.max_age = Millis(40);
  Start();
  EXPECT_TRUE(RunUntil(loop_, [&] { return plan_.started >= 3; }));
  ExpectRestartsFor(CellRestart::kAge);
}

TEST_F(IsolateManagerTest, RestartsACellThatDiesAndKeepsTheIsolatesItForked) {
  options_.cells.first_delay = options_.cells.longest_delay = Millis(200);  // there is none meanwhile
  IsolateManager& manager = Start();
  ASSERT_TRUE(SparesAre(2));
  plan_.fork = Fork::kKillsCell;
  const auto isolate = manager.TakeSpare();  // asks for another, which is too much for it
  ASSERT_TRUE(isolate);
  ASSERT_TRUE(RunUntil(loop_, [&] { return plan_.alive == 0; }));
  EXPECT_EQ(manager.spares(), 1u) << "the other spare lives on";
  EXPECT_EQ(::kill(isolate->pid(), 0), 0);
  EXPECT_EQ(manager.Figures().cells, 0u);
  plan_.fork = Fork::kGood;
  EXPECT_TRUE(SparesAre(2));
  ExpectRestartsFor(CellRestart::kDied);
}

TEST_F(IsolateManagerTest, AJobOfACellThatDiesIsServedByAnotherAtOnce) {
  options_.max_cells = 2;
  options_.max_spares = 0;
  options_.max_wait = Millis(20'000);
  options_.pressure = {.window = Millis(100), .least_forks = 5};
  options_.cells.first_delay = options_.cells.longest_delay = Millis(60'000);  // it is not back before
  IsolateManager& manager = Start();
  std::vector<IsolateManager::Ticket> tickets;
  ASSERT_TRUE(RunUntil(loop_, [&] {  // forks queue until there are two
    while (manager.waiting() < 10) tickets.push_back(manager.Await([](const Result<Isolate>&) {}));
    return manager.Figures().cells == 2;
  }));
  tickets.clear();
  ASSERT_TRUE(RunUntil(loop_, [&] { return manager.pending_forks() == 0; }));
  plan_.fork = Fork::kKillsCell;
  std::optional<CellNumber> served;
  const auto ticket = manager.Await([&](Result<Isolate> isolate) { served = isolate ? isolate->cell() : 0; });
  plan_.fork = Fork::kGood;
  ASSERT_TRUE(RunUntil(loop_, [&] { return served.has_value(); }));
  EXPECT_EQ(served, 2u) << "the first was asked, and has died";
  EXPECT_EQ(Count(CellRestart::kDied), 1u);
  EXPECT_EQ(manager.Figures().cells, 1u);
}

TEST_F(IsolateManagerTest, TakesACellThatDoesNotForkInTimeForDead) {
  options_.cells.fork_timeout = Millis(30);
  plan_.fork = Fork::kNever;
  Start();
  ASSERT_TRUE(RunUntil(loop_, [&] { return plan_.started >= 2; }));
  plan_.fork = Fork::kGood;
  EXPECT_TRUE(SparesAre(2));
  ExpectRestartsFor(CellRestart::kForkTimeout);
}

TEST_F(IsolateManagerTest, SaysWhenForksCannotBeHopedForAndWhenTheyCanAgain) {
  Start();
  ASSERT_TRUE(SparesAre(2));
  plan_.starts = false;
  plan_.fork = Fork::kKillsCell;
  (void)manager_->TakeSpare();
  ASSERT_TRUE(RunUntil(loop_, [&] { return !health_.empty(); }));
  EXPECT_FALSE(health_.back());
  EXPECT_GE(Count(CellRestart::kStartFailed), 1u);
  plan_.fork = Fork::kGood;
  plan_.starts = true;
  ASSERT_TRUE(RunUntil(loop_, [&] { return health_.size() == 2; }));
  EXPECT_TRUE(health_.back());
}

TEST_F(IsolateManagerTest, BacksOffInAStormOfDeathsStaysInBadHealthAndHeals) {
  for (const std::size_t spares : {2, 0}) {  // without spares nobody asks for a fork
    SCOPED_TRACE(spares);
    options_.max_spares = spares;
    plan_.started = 0;
    plan_.fork = Fork::kKillsCell;
    health_.clear();
    started_.reset();
    IsolateManager& manager = Start();
    const auto ticket = manager.Await([](const Result<Isolate>&) {});
    ASSERT_TRUE(RunUntil(loop_, [&] { return !health_.empty(); }));
    const int before = plan_.started;
    const TimePoint since = loop_.Now();
    ASSERT_TRUE(RunUntil(loop_, [&] { return plan_.started >= before + 5; }));
    EXPECT_GE(loop_.Now() - since, 4 * options_.cells.longest_delay) << "the wait between two starts";
    EXPECT_EQ(health_, std::vector<bool>{false}) << "a cell that starts and dies is no good news";
    EXPECT_GE(Count(CellRestart::kDied), 7u);
    plan_.fork = Fork::kGood;
    ASSERT_TRUE(RunUntil(loop_, [&] { return health_.size() == 2; }));
    EXPECT_TRUE(health_.back());
    EXPECT_TRUE(SparesAre(spares));
    manager_.reset();
  }
}

TEST_F(IsolateManagerTest, TellsTheCallerWhenTheFirstCellDoesNotStart) {
  plan_.starts = false;
  Start();
  EXPECT_FALSE(*started_);
  RunFor(loop_, Millis(50));
  EXPECT_EQ(plan_.started, 0) << "that failure is the caller's to act on";
}

TEST_F(IsolateManagerTest, MissesNoTimerWhileACellStarts) {
  plan_.start_delay_ms = 150;
  manager_.emplace(loop_, FakeCells(plan_), options_);
  manager_->Start([this](const Status& status) { started_ = status.has_value(); });
  const TimePoint before = loop_.Now();
  TimePoint fired{};
  const auto timer = loop_.After(Millis(20), [&] { fired = loop_.Now(); });
  ASSERT_TRUE(RunUntil(loop_, [&] { return started_.has_value(); }));
  EXPECT_LT(fired - before, Millis(100));
  EXPECT_NE(fired, TimePoint{});
}

TEST(BackOff, DoublesToItsLongestAndStartsAnewAfterASuccess) {
  BackOff back_off(Millis(100), Millis(1'000));
  for (const int expected : {100, 200, 400, 800, 1'000, 1'000}) EXPECT_EQ(back_off.Next(), Millis(expected));
  EXPECT_EQ(back_off.failures(), 6);
  back_off.Reset();
  EXPECT_EQ(back_off.failures(), 0);
  EXPECT_EQ(back_off.Next(), Millis(100));
}

}  // namespace
}  // namespace skerry::agent
