// Cells with libraries in the pool of derived cells, and what becomes of libraries that fail.
#include <vector>

#include "worker/agent/cells/derived_cells.h"
#include "worker/agent/testing/derived_cells_fixture.h"

namespace skerry::agent {
namespace {

using Derived = FakeCellPlan::Derived;

using LibraryCells = DerivedCellsTest;

TEST_F(LibraryCells, LibrariesAreEvaluatedOncePerCombinationInTheOperatorsOrder) {
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

TEST_F(LibraryCells, AProgramWithLibrariesComesFromTheirCell) {
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

TEST_F(LibraryCells, LibrariesThatFailEndTheirJobsAndThoseToComeAtOnceUntilTheyWork) {
  options_.derived.broken = {.first_delay = Millis(500), .longest_delay = Millis(500)};
  const std::string why = "libraries cannot be evaluated on this worker: a";
  int failed = 0;
  for (const Derived how : {Derived::kUnkeepable, Derived::kDies}) {
    plan_.libraries = how;
    std::vector<Job> jobs(3);
    for (Job& job : jobs) AskForLibraries(job, PlanOf("x", {"a"}));
    ASSERT_TRUE(RunUntil(loop_, [&] { return jobs[2].ended(); }));
    for (const Job& job : jobs) EXPECT_EQ(job.failure, why);
    EXPECT_EQ(TryLibraries(PlanOf("x", {"a"})), "at once: " + why);
    EXPECT_EQ(plan_.recipes.size(), static_cast<std::size_t>(2 * failed + 1)) << "in its delay nobody tries";
    plan_.libraries = Derived::kReady;
    ASSERT_TRUE(RunUntil(loop_, [&] {
      return Count(DerivedCellEvent::kLibraryMade) == static_cast<std::uint64_t>(failed + 1);
    })) << "tried again with nobody waiting";
    EXPECT_EQ(TryLibraries(PlanOf("x", {"a"})), "isolate");
    EXPECT_EQ(Count(DerivedCellEvent::kLibraryFailed), static_cast<std::uint64_t>(++failed));
    manager_->Retire(plan_.started);
    ASSERT_TRUE(RunUntil(loop_, [&] { return plan_.started == failed + 1; }));
  }
}

TEST_F(LibraryCells, LibrariesThatKeepFailingAreTriedWhileJobsAskAndThenLeftAlone) {
  plan_.libraries = Derived::kUnkeepable;
  const JobPlan plan = PlanOf("x", {"a"});
  EXPECT_NE(TryLibraries(plan), "isolate");
  while (Count(DerivedCellEvent::kLibraryFailed) < 4 && !HasFailure()) {
    EXPECT_NE(TryLibraries(plan), "isolate");
    RunFor(loop_, Millis(2));
  }
  RunFor(loop_, Millis(300));  // the last asked for
  const std::uint64_t failed = Count(DerivedCellEvent::kLibraryFailed);
  RunFor(loop_, Millis(60));
  EXPECT_EQ(Count(DerivedCellEvent::kLibraryFailed), failed);
  EXPECT_EQ(cells().cells(), 0u);
  plan_.libraries = Derived::kReady;
  EXPECT_NE(TryLibraries(plan), "isolate") << "it has not waited";
  ASSERT_TRUE(RunUntil(loop_, [&] { return Count(DerivedCellEvent::kLibraryMade) == 1; }));
  EXPECT_EQ(TryLibraries(plan), "isolate");
}

TEST_F(LibraryCells, LibrariesThatFailTakeNoOtherCombinationWithThem) {
  plan_.libraries = Derived::kUnkeepable;
  options_.derived.broken = {.first_delay = Millis(60'000), .longest_delay = Millis(60'000)};
  EXPECT_NE(TryLibraries(PlanOf("x", {"b"})), "isolate");
  plan_.libraries = Derived::kReady;
  EXPECT_EQ(TryLibraries(PlanOf("x", {"b", "a"})), "isolate") << "b may need a";
  EXPECT_NE(TryLibraries(PlanOf("x", {"b"})), "isolate");
}

TEST_F(LibraryCells, ProgramsWhoseLibrariesFailAreToldSo) {
  plan_.libraries = Derived::kUnkeepable;
  options_.derived.broken = {.first_delay = Millis(60'000), .longest_delay = Millis(60'000)};
  EXPECT_EQ(Try(PlanOf("one", {"a"})), "libraries cannot be evaluated on this worker: a");
  EXPECT_EQ(Try(PlanOf("one", {"a"})), "plain") << "which finds that out at once, too";
  EXPECT_EQ(Count(DerivedCellEvent::kProgramUnkeepable), 0u);
  EXPECT_EQ(plan_.recipes.size(), 1u);
}

TEST_F(LibraryCells, LibrariesWhoseCellIsKilledBySomebodyElseAreNotBroken) {
  plan_.libraries = Derived::kKilled;
  Job job;
  AskForLibraries(job, PlanOf("x", {"a"}));
  ASSERT_TRUE(RunUntil(loop_, [&] { return plan_.recipes.size() >= 2; })) << "tried again, and the job waits";
  EXPECT_FALSE(job.ended());
  plan_.libraries = Derived::kReady;
  ASSERT_TRUE(RunUntil(loop_, [&] { return job.ended(); }));
  EXPECT_TRUE(job.isolate) << job.failure;
  EXPECT_EQ(Count(DerivedCellEvent::kLibraryFailed), 0u);
}

TEST_F(LibraryCells, LibrariesWaitForRoomAndAProgramsCellMakesIt) {
  options_.derived.kept.memory_mb = kLibraryMb;
  ASSERT_EQ(Try(PlanOf("one")), "isolate");
  EXPECT_EQ(TryLibraries(PlanOf("x", {"a"})), "isolate");
  EXPECT_EQ(Count(DerivedCellEvent::kProgramEvicted), 1u);
  EXPECT_LT(cells().memory_mb(), kLibraryMb) << "it holds what it needs once it is ready";
}

}  // namespace
}  // namespace skerry::agent
