// The pool of derived cells, with children of this test as cells and isolates.
#include "worker/agent/derived_cells.h"

#include <gtest/gtest.h>

#include <vector>

#include "common/hash.h"
#include "common/logging.h"
#include "worker/agent/isolate_manager.h"
#include "worker/agent/testing/fake_cell.h"
#include "worker/agent/testing/loop_runner.h"

namespace skerry::agent {
namespace {

using Derived = FakeCellPlan::Derived;
using Fork = FakeCellPlan::Fork;

class DerivedCellsTest : public ::testing::Test {
 protected:
  /// A job that waits, or has what it waited for.
  struct Job {
    std::optional<WaitingJobs::Ticket> ticket;
    std::optional<Isolate> isolate;
    std::string failure;
    bool ended() const { return isolate || !failure.empty(); }
  };

  DerivedCellsTest() {
    (void)InitLogging("test", "off");
    options_.max_concurrent_isolates = 8;
    options_.max_spares = 0;
    options_.worker_memory_mb = 4096;
    options_.derived.kept = {.max_cells = 4, .memory_mb = 1024};
    options_.derived.max_wait = Millis(400);
    options_.derived.first_delay = Millis(5);
    options_.derived.longest_delay = Millis(20);
    options_.cells.retire_interval = Millis(0);
  }

  DerivedCells& cells() {
    if (!manager_) {
      manager_.emplace(loop_, FakeCells(plan_), options_);
      bool ready = false;
      manager_->Start([&](const Status& status) { ready = status.has_value(); });
      EXPECT_TRUE(RunUntil(loop_, [&] { return ready; }));
    }
    return manager_->derived();
  }
  JobPlan PlanOf(const std::string& code, std::vector<std::string> libraries = {},
                 RequestedLimits limits = {}) {
    wire::Dispatch dispatch;
    dispatch.job.id = JobId("j");
    dispatch.job.program = true;
    dispatch.job.code_hash = Sha256(code);
    dispatch.job.libraries = std::move(libraries);
    dispatch.job.limits = std::move(limits);
    auto planned = PlanJob(dispatch, {code, ""}, 16'384, shelf_);
    return std::get<JobPlan>(planned);
  }
  static WaitingJobs::Ready Into(Job& job) {
    return [&job](Result<Isolate> isolate) {
      if (isolate) {
        job.isolate.emplace(std::move(*isolate));
      } else {
        job.failure = isolate.error().message;
      }
    };
  }
  void AskFor(Job& job, const JobPlan& plan) { job.ticket = cells().AwaitProgram(plan, Into(job)); }
  /// What becomes of one job with this program: "isolate", "plain" or why it waited in vain.
  std::string Try(const JobPlan& plan) {
    Job job;
    AskFor(job, plan);
    if (!job.ticket) return "plain";
    EXPECT_TRUE(RunUntil(loop_, [&] { return job.ended(); }));
    return job.isolate ? "isolate" : job.failure;
  }
  std::string TryLibraries(const JobPlan& plan) {
    Job job;
    job.ticket = cells().AwaitLibraries(plan, Into(job));
    EXPECT_TRUE(RunUntil(loop_, [&] { return job.ended(); }));
    return job.isolate ? "isolate" : job.failure;
  }
  std::uint64_t Count(DerivedCellEvent event) const {
    return manager_->Figures().derived_cells[static_cast<std::size_t>(event)];
  }
  bool AliveAre(int count) {
    return RunUntil(
        loop_, [&] { return plan_.derived_alive == count; }, Millis(2'000));
  }

  EventLoop loop_;
  FakeCellPlan plan_;
  LibraryShelf shelf_{{{"a", "exports.a = 1"}, {"b", "exports.b = 2"}}};
  IsolateManager::Options options_;
  std::optional<IsolateManager> manager_;
};

TEST_F(DerivedCellsTest, OneProgramIsEvaluatedOnceForAllJobsThatWantIt) {
  std::vector<Job> jobs(5);
  for (Job& job : jobs) AskFor(job, PlanOf("one"));
  ASSERT_TRUE(RunUntil(loop_, [&] {
    return std::all_of(jobs.begin(), jobs.end(), [](const Job& job) { return job.isolate.has_value(); });
  }));
  EXPECT_EQ(Try(PlanOf("one")), "isolate");
  EXPECT_EQ(plan_.recipes.size(), 1u);
  EXPECT_EQ(plan_.derived_forks, 6);
  EXPECT_EQ(plan_.forks, 0);
  const cell::CellRecipe& recipe = *plan_.recipes[0];
  EXPECT_EQ(recipe.program->code, "one");
  EXPECT_TRUE(recipe.program->job.id.str().empty());
  EXPECT_FALSE(recipe.program->job.limits.empty());
  EXPECT_EQ(Count(DerivedCellEvent::kProgramMade), 1u);
  EXPECT_EQ(Count(DerivedCellEvent::kProgramJob), 6u);
  for (const Job& job : jobs) {
    EXPECT_EQ(job.isolate->cell(), 1u) << "its base cell's number";
    EXPECT_EQ(job.isolate->descent().derived, 1u);
    EXPECT_TRUE(job.isolate->descent().before_program);
    EXPECT_EQ(job.isolate->v8().version, "1.2.3-fake");
  }
}

TEST_F(DerivedCellsTest, WhatCannotBeKeptIsRememberedAndNotTriedAgain) {
  for (const Derived how : {Derived::kUnkeepable, Derived::kDies}) {
    plan_.program = how;
    const JobPlan plan = PlanOf("code " + std::to_string(static_cast<int>(how)));
    EXPECT_NE(Try(plan), "isolate");
    EXPECT_EQ(Try(plan), "plain");
    EXPECT_EQ(plan_.derived_alive, 0);
  }
  EXPECT_EQ(plan_.recipes.size(), 2u);
  EXPECT_EQ(Count(DerivedCellEvent::kProgramUnkeepable), 2u);
  EXPECT_EQ(Count(DerivedCellEvent::kProgramMade), 0u);
  plan_.program = Derived::kReady;
  EXPECT_EQ(Try(PlanOf("another")), "isolate");
}

TEST_F(DerivedCellsTest, EvaluationHasTheLimitsOfItsJob) {
  plan_.program = Derived::kHangs;
  EXPECT_EQ(Try(PlanOf("hangs", {}, {{"timeoutMs", 40}})), "it takes longer than timeoutMs to evaluate");
  plan_.program = Derived::kSpins;
  EXPECT_EQ(Try(PlanOf("spins", {}, {{"timeoutMs", 5'000}, {"cpuMs", 20}})),
            "it takes more than cpuMs to evaluate");
  plan_.program = Derived::kGrows;
  // RLIMIT_DATA or the watch, whichever comes first.
  EXPECT_NE(Try(PlanOf("grows", {}, {{"memoryMb", 32}})), "isolate");
  EXPECT_EQ(plan_.derived_alive, 0);
  EXPECT_EQ(Count(DerivedCellEvent::kProgramUnkeepable), 3u);
}

TEST_F(DerivedCellsTest, WhereTheBaseCellMakesNoOthersProgramsAreRunPlainly) {
  plan_.keeps_programs = false;
  EXPECT_EQ(Try(PlanOf("none")), "plain");
  EXPECT_EQ(TryLibraries(PlanOf("l", {"a"})), "isolate") << "the operator's own need no watch";
  plan_.keeps_programs = true;
  plan_.program = Derived::kRefused;
  EXPECT_EQ(Try(PlanOf("one")), "it makes no others");
  plan_.program = Derived::kNeverComes;
  EXPECT_EQ(Try(PlanOf("two")), "no cell could be made for its program in time");
  EXPECT_EQ(cells().cells(), 1u) << "that of the libraries";
}

TEST_F(DerivedCellsTest, AProgramThatNobodyWaitsForAnyMoreIsNotEvaluatedToItsEnd) {
  plan_.program = Derived::kHangs;
  std::vector<Job> jobs(2);
  for (Job& job : jobs) AskFor(job, PlanOf("hangs"));
  ASSERT_TRUE(AliveAre(1));
  jobs[0].ticket.reset();
  RunFor(loop_, Millis(20));
  EXPECT_EQ(plan_.derived_alive, 1) << "another waits for it still";
  jobs[1].ticket.reset();
  EXPECT_TRUE(AliveAre(0));
  EXPECT_EQ(cells().cells(), 0u);
  EXPECT_FALSE(jobs[0].ended() || jobs[1].ended());
  plan_.program = Derived::kReady;
  EXPECT_EQ(Try(PlanOf("hangs")), "isolate") << "it is not remembered as one that cannot be kept";
}

TEST_F(DerivedCellsTest, JobsThatWaitAreToldWhenACellDiesUnderThem) {
  ASSERT_EQ(Try(PlanOf("one")), "isolate");
  plan_.derived_fork = Fork::kKillsCell;
  std::vector<Job> jobs(3);
  for (Job& job : jobs) AskFor(job, PlanOf("one"));
  ASSERT_TRUE(RunUntil(loop_, [&] { return jobs[2].ended(); }));
  for (const Job& job : jobs) EXPECT_EQ(job.failure, "the fake cell is dead");
  EXPECT_EQ(Count(DerivedCellEvent::kProgramEnded), 1u);
  plan_.derived_fork = Fork::kGood;
  EXPECT_EQ(Try(PlanOf("one")), "isolate") << "one that has served is made again";
}

TEST_F(DerivedCellsTest, OneThatDoesNotForkIsGivenUp) {
  options_.derived.fork_timeout = Millis(30);
  plan_.derived_fork = Fork::kNever;
  EXPECT_EQ(Try(PlanOf("one")), "it does not fork");
  EXPECT_EQ(Try(PlanOf("one")), "plain");
}

TEST_F(DerivedCellsTest, AsksAgainWhenTooManyDescriptorsWereOnTheirWay) {
  ASSERT_EQ(Try(PlanOf("one")), "isolate");
  plan_.requests_refused = 3;
  EXPECT_EQ(Try(PlanOf("one")), "isolate");
  EXPECT_EQ(plan_.requests_refused, 0);
  EXPECT_EQ(plan_.recipes.size(), 1u);
}

TEST_F(DerivedCellsTest, TheOneLongestUnusedGoesForAnotherAndItsIsolatesLiveOn) {
  options_.derived.kept.max_cells = 2;
  Job held;
  AskFor(held, PlanOf("one"));
  ASSERT_TRUE(RunUntil(loop_, [&] { return held.ended(); }));
  ASSERT_EQ(Try(PlanOf("two")), "isolate");
  EXPECT_EQ(Try(PlanOf("three")), "isolate");
  EXPECT_EQ(Count(DerivedCellEvent::kProgramEvicted), 1u);
  EXPECT_EQ(cells().cells(), 2u);
  EXPECT_EQ(plan_.derived_alive, 2);
  EXPECT_FALSE(held.isolate->TryReap()) << "it runs on";
  EXPECT_EQ(Try(PlanOf("two")), "isolate");
  EXPECT_EQ(plan_.recipes.size(), 3u) << "two was kept, one went";
}

TEST_F(DerivedCellsTest, WhereAllAreBusyAProgramIsRunPlainly) {
  options_.derived.kept.max_cells = 1;
  plan_.program = Derived::kHangs;
  Job waiting;
  AskFor(waiting, PlanOf("one"));
  ASSERT_TRUE(AliveAre(1));
  EXPECT_EQ(Try(PlanOf("two")), "plain");
  EXPECT_FALSE(waiting.ended());
}

TEST_F(DerivedCellsTest, AStateThatDoesNotFitIsNotKept) {
  options_.derived.kept.memory_mb = DerivedCells::kSettled.mib() - 1;
  EXPECT_EQ(Try(PlanOf("one")), "its evaluated state takes more memory than is for it");
  EXPECT_EQ(Try(PlanOf("one")), "plain");
  EXPECT_EQ(cells().memory_mb(), 0u);
}

TEST_F(DerivedCellsTest, NothingIsKeptWhereNoMemoryIsSetAside) {
  options_.derived.kept.memory_mb = 0;
  EXPECT_EQ(Try(PlanOf("one")), "plain");
  EXPECT_TRUE(plan_.recipes.empty());
}

TEST_F(DerivedCellsTest, ACellIsRenewedByItsForks) {
  options_.derived.max_forks = 3;
  for (int i = 0; i < 3; ++i) ASSERT_EQ(Try(PlanOf("one")), "isolate");
  EXPECT_EQ(plan_.recipes.size(), 1u);
  EXPECT_EQ(Try(PlanOf("one")), "isolate");
  EXPECT_EQ(plan_.recipes.size(), 2u);
  EXPECT_EQ(Count(DerivedCellEvent::kProgramEnded), 1u);
}

TEST_F(DerivedCellsTest, ACellIsRenewedByItsAge) {
  options_.derived.max_age = Millis(0);
  ASSERT_EQ(Try(PlanOf("one")), "isolate");
  ASSERT_EQ(Try(PlanOf("one")), "isolate");
  EXPECT_EQ(plan_.recipes.size(), 2u);
}

TEST_F(DerivedCellsTest, GoWithTheirBaseCell) {
  ASSERT_EQ(Try(PlanOf("one")), "isolate");
  ASSERT_EQ(TryLibraries(PlanOf("l", {"a"})), "isolate");
  manager_->Retire(1);
  ASSERT_TRUE(RunUntil(loop_, [&] { return plan_.started == 2 && plan_.derived_alive == 0; }));
  EXPECT_EQ(cells().cells(), 0u);
  EXPECT_EQ(Try(PlanOf("one")), "isolate");
  EXPECT_EQ(plan_.recipes.size(), 3u);
}

TEST_F(DerivedCellsTest, AJobThatWaitsWhenTheBaseCellIsReplacedIsServedOrTold) {
  plan_.program = Derived::kHangs;
  plan_.libraries = Derived::kHangs;
  Job program;
  Job libraries;
  AskFor(program, PlanOf("one"));
  libraries.ticket = cells().AwaitLibraries(PlanOf("l", {"a"}), Into(libraries));
  ASSERT_TRUE(AliveAre(2));
  plan_.libraries = Derived::kReady;
  manager_->Retire(1);
  ASSERT_TRUE(RunUntil(loop_, [&] { return program.ended() && libraries.ended(); }));
  EXPECT_EQ(program.failure, "its base cell was replaced");
  EXPECT_TRUE(libraries.isolate) << libraries.failure;
}

TEST_F(DerivedCellsTest, AProgramsCellWhoseIsolateShowedItsLayoutGoesAtOnce) {
  ASSERT_EQ(Try(PlanOf("one")), "isolate");
  cells().Retire(1);
  EXPECT_EQ(plan_.derived_alive, 0);
  cells().Retire(1);
  cells().Retire(0);
  EXPECT_EQ(Try(PlanOf("one")), "isolate");
}

TEST_F(DerivedCellsTest, AProgramsCellWhoseIsolatesTakeNoJobIsNotKept) {
  ASSERT_EQ(Try(PlanOf("one")), "isolate");
  cells().NoteFailedHandOver(1);
  EXPECT_EQ(Try(PlanOf("one")), "plain");
}

TEST_F(DerivedCellsTest, LibrariesAreEvaluatedOncePerCombinationInTheOperatorsOrder) {
  ASSERT_EQ(TryLibraries(PlanOf("x", {"b", "a"})), "isolate");
  ASSERT_EQ(TryLibraries(PlanOf("y", {"a", "b"})), "isolate");
  ASSERT_EQ(TryLibraries(PlanOf("z", {"b"})), "isolate");
  ASSERT_EQ(plan_.recipes.size(), 2u);
  ASSERT_EQ(plan_.recipes[0]->libraries.size(), 2u);
  EXPECT_EQ(plan_.recipes[0]->libraries[0]->name, "a");
  EXPECT_EQ(plan_.recipes[0]->libraries[1]->name, "b");
  EXPECT_FALSE(plan_.recipes[0]->program);
  EXPECT_EQ(Count(DerivedCellEvent::kLibraryMade), 2u);
  EXPECT_EQ(Count(DerivedCellEvent::kLibraryJob), 3u);
}

TEST_F(DerivedCellsTest, AProgramWithLibrariesComesFromTheirCell) {
  Job job;
  AskFor(job, PlanOf("x", {"a"}));
  ASSERT_TRUE(RunUntil(loop_, [&] { return job.ended(); }));
  ASSERT_TRUE(job.isolate) << job.failure;
  ASSERT_EQ(plan_.recipes.size(), 2u);
  EXPECT_EQ(plan_.recipes[0]->libraries.size(), 1u);
  EXPECT_TRUE(plan_.recipes[1]->libraries.empty()) << "they are there already";
  EXPECT_EQ(plan_.recipes[1]->program->job.libraries, std::vector<std::string>{"a"});
  EXPECT_EQ(job.isolate->cell(), 1u);
  EXPECT_EQ(cells().cells(), 2u);
}

TEST_F(DerivedCellsTest, LibrariesThatFailKeepTheirJobsWaitingAndAreTriedAgain) {
  plan_.libraries = Derived::kUnkeepable;
  EXPECT_NE(TryLibraries(PlanOf("x", {"a"})).find("for 400 ms"), std::string::npos);
  EXPECT_GE(Count(DerivedCellEvent::kLibraryFailed), 2u);
  Job job;
  job.ticket = cells().AwaitLibraries(PlanOf("x", {"a"}), Into(job));
  plan_.libraries = Derived::kReady;
  ASSERT_TRUE(RunUntil(loop_, [&] { return job.ended(); }));
  EXPECT_TRUE(job.isolate) << job.failure;
}

TEST_F(DerivedCellsTest, LibrariesWaitForRoomAndAProgramsCellMakesIt) {
  options_.derived.kept.memory_mb = DerivedCells::kLibraryMb;
  ASSERT_EQ(Try(PlanOf("one")), "isolate");
  EXPECT_EQ(TryLibraries(PlanOf("x", {"a"})), "isolate");
  EXPECT_EQ(Count(DerivedCellEvent::kProgramEvicted), 1u);
  EXPECT_LT(cells().memory_mb(), DerivedCells::kLibraryMb) << "it holds what it needs once it is ready";
}

}  // namespace
}  // namespace skerry::agent
