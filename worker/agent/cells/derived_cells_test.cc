// The pool of derived cells, with children of this test as cells and isolates.
#include "worker/agent/cells/derived_cells.h"

#include <algorithm>
#include <vector>

#include "worker/agent/testing/derived_cells_fixture.h"

namespace skerry::agent {
namespace {

using Derived = FakeCellPlan::Derived;
using Fork = FakeCellPlan::Fork;

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
  for (const Job& job : jobs)
    EXPECT_NE(job.failure.find("(ended by signal 9)"), std::string::npos) << job.failure;
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

TEST_F(DerivedCellsTest, AProgramWithLibrariesIsKeptOnlyWhereTheirCellHasAPlaceToo) {
  options_.derived.kept.max_cells = 1;
  for (const char* library : {"a", "b", "a"}) {
    const JobPlan plan = PlanOf(std::string("with ") + library, {library});
    EXPECT_EQ(Try(plan), "plain");
    EXPECT_EQ(TryLibraries(plan), "isolate") << library;
  }
}

TEST_F(DerivedCellsTest, ProgramsDoNotTakeThePlacesThatTheirLibrariesNeed) {
  options_.derived.kept.max_cells = 2;
  Job one;
  Job two;
  AskFor(one, PlanOf("one", {"a"}));
  AskFor(two, PlanOf("two", {"b"}));
  EXPECT_TRUE(one.ticket);
  EXPECT_FALSE(two.ticket) << "both places are taken, and busy";
  EXPECT_TRUE(RunUntil(loop_, [&] { return one.ended(); }));
  EXPECT_TRUE(one.isolate) << one.failure;
  EXPECT_EQ(Try(PlanOf("two", {"b"})), "isolate") << "the two before are idle now, and go";
  EXPECT_EQ(Count(DerivedCellEvent::kLibraryEvicted), 1u);
  EXPECT_EQ(Count(DerivedCellEvent::kProgramEvicted), 1u);
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
  AskForLibraries(libraries, PlanOf("l", {"a"}));
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

TEST_F(DerivedCellsTest, AProgramWhoseCellIsKilledBySomebodyElseIsTriedAgainSoon) {
  options_.derived.killed_for = Millis(500);
  plan_.program = Derived::kKilled;
  EXPECT_NE(Try(PlanOf("one")).find("(ended by signal 9)"), std::string::npos);
  EXPECT_EQ(Try(PlanOf("one")), "plain") << "it may be its memory that somebody was short of";
  plan_.program = Derived::kReady;
  RunFor(loop_, Millis(500));
  EXPECT_EQ(Try(PlanOf("one")), "isolate");
  plan_.derived_fork = Fork::kKillsCell;
  EXPECT_NE(Try(PlanOf("two")), "isolate") << "ready, and killed before it served anybody";
  plan_.derived_fork = Fork::kGood;
  RunFor(loop_, Millis(500));
  EXPECT_EQ(Try(PlanOf("two")), "isolate");
}

}  // namespace
}  // namespace skerry::agent
