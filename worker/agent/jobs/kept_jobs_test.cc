// Jobs whose program or libraries are kept in cells of their own: what they see of it, which is nothing.
#include <signal.h>

#include <set>

#include "common/hash.h"
#include "worker/agent/testing/job_run_fixture.h"

namespace skerry::agent {
namespace {

using Derived = FakeCellPlan::Derived;
using Fork = FakeCellPlan::Fork;

class KeptJobsTest : public JobRunTest {
 protected:
  KeptJobsTest() {
    options_.max_spares = 0;
    options_.derived.kept = {.max_cells = 4, .memory_mb = 512};
    options_.derived.max_wait = Millis(300);
    asks_.program = true;
    shelf_ = LibraryShelf(std::vector<cell::Library>{{"a", "exports.a = 1"}});
  }
  Outcome PlayKept(const std::string& script, RequestedLimits limits = {}, Retry retry = Retry::kSafe) {
    asks_.code_hash = Sha256(script);
    return Play(script, std::move(limits), retry);
  }
  std::uint64_t Count(DerivedCellEvent event) {
    return manager().Figures().derived_cells[static_cast<std::size_t>(event)];
  }
};

TEST_F(KeptJobsTest, TheSecondRunOfAProgramFindsItsCell) {
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Text(PlayKept("ok 1")), "ok 1");
  EXPECT_EQ(plan_.recipes.size(), 1u);
  EXPECT_EQ(plan_.derived_forks, 3);
  EXPECT_EQ(plan_.forks, 0);
}

TEST_F(KeptJobsTest, AJobThatDoesNotAskForItIsRunInAnIsolateOfItsOwn) {
  asks_.program = false;
  EXPECT_EQ(Text(PlayKept("ok 1")), "ok 1");
  EXPECT_TRUE(plan_.recipes.empty());
  EXPECT_EQ(plan_.forks, 1);
}

TEST_F(KeptJobsTest, WhatCannotBeKeptIsRunFromItsBeginningWithTheSameVerdicts) {
  for (const Derived how : {Derived::kUnkeepable, Derived::kDies, Derived::kRefused}) {
    plan_.program = how;
    const std::string note = "event " + std::to_string(static_cast<int>(how)) + "\n";  // another program each
    EXPECT_EQ(Text(PlayKept(note + "ok 1")), "ok 1");
    EXPECT_EQ(Text(PlayKept(note + "final COMPILE program -")), "COMPILE ");
    EXPECT_EQ(Text(PlayKept(note + "signal 11")), "CRASH ");
  }
  EXPECT_EQ(Count(DerivedCellEvent::kProgramMade), 0u);
}

TEST_F(KeptJobsTest, AProgramThatHangsIsEvaluatedForItsTimeAndThenTimesOutAsEver) {
  plan_.program = Derived::kHangs;
  const Outcome outcome = PlayKept("hang", {{"timeoutMs", 60}});
  EXPECT_EQ(Text(outcome), "TIMEOUT timeoutMs");
  EXPECT_TRUE(outcome.error->started);
  EXPECT_EQ(outcome.attempt, 1u);
}

TEST_F(KeptJobsTest, ARunThatIsRepeatedStartsFromTheBeginning) {
  EXPECT_EQ(Text(PlayKept("on-attempt 1 signal 6\nok 2")), "ok 2");
  EXPECT_EQ(plan_.derived_forks, 1);
  EXPECT_EQ(plan_.forks, 1);
}

TEST_F(KeptJobsTest, ACrashThatMayHaveShownItsLayoutEndsThePrograms) {
  EXPECT_EQ(Text(PlayKept("signal 11", {}, Retry::kNever)), "CRASH ");
  EXPECT_EQ(plan_.derived_alive, 0);
  EXPECT_EQ(Count(DerivedCellEvent::kProgramEnded), 1u);
  const WorkerStats figures = manager().Figures();
  EXPECT_EQ(figures.cell_restarts[static_cast<std::size_t>(CellRestart::kCrash)], 1u) << "and its base cell";
}

TEST_F(KeptJobsTest, IsolatesThatTakeNoJobAreTheirProgramsFaultAndNotTheBaseCells) {
  for (const Fork fork : {Fork::kDiesIdle, Fork::kSpeaksFirst}) {
    plan_.derived_fork = fork;
    for (int i = 0; i < 9; ++i) {
      const std::string script = "ok " + std::to_string(100 * static_cast<int>(fork) + i);
      asks_.code_hash = Sha256(script);
      // More than a socket holds: it is not handed over by being sent.
      Begin(script, {}, Retry::kSafe, "\"" + std::string(4'000'000, 'x') + "\"");
      EXPECT_EQ(Text(Finish()), script);
    }
  }
  EXPECT_EQ(plan_.started, 1);
  EXPECT_EQ(Count(DerivedCellEvent::kProgramUnkeepable), 18u);
}

TEST_F(KeptJobsTest, WhatTheEvaluationMadeCountsAgainstTheJobsMemory) {
  plan_.derived_fork = Fork::kHasState;
  // The fake's state is there before the job is: of an isolate of the base cell it would be the template's.
  const Outcome kept = PlayKept("sleep 60\nok 1", {{"memoryMb", 128}});
  EXPECT_EQ(Text(kept), "ok 1");
  EXPECT_GE(kept.usage.memory_peak_bytes, kFakeStateBytes);
  // How it died is judged by how much it had.
  EXPECT_EQ(Text(PlayKept("signal 6", {{"memoryMb", 32}}, Retry::kNever)), "OOM memoryMb");
  plan_.fork = Fork::kHasState;
  asks_.program = false;
  EXPECT_EQ(Text(PlayKept("signal 6", {{"memoryMb", 32}}, Retry::kNever)), "CRASH ");
  const Outcome plain = PlayKept("sleep 60\nok 1", {{"memoryMb", 128}});
  EXPECT_EQ(Text(plain), "ok 1");
  EXPECT_LT(plain.usage.memory_peak_bytes, kFakeStateBytes);
}

TEST_F(KeptJobsTest, RlimitDataIsWhatARunFromTheBeginningHas) {
  plan_.derived_fork = Fork::kHasState;
  // 48 of state and 60 more are over 64 and its margin, though 60 alone are not.
  EXPECT_EQ(Text(PlayKept("cannot-map 60", {{"memoryMb", 64}})), "ok true");
  asks_.program = false;
  EXPECT_EQ(Text(PlayKept("cannot-map 60", {{"memoryMb", 64}})), "ok false");
}

TEST_F(KeptJobsTest, CanBeCancelledWhileTheyWait) {
  plan_.program = Derived::kHangs;
  asks_.code_hash = Sha256("ok 1");
  Begin("ok 1");
  ASSERT_TRUE(RunUntil(loop_, [&] { return plan_.derived_alive == 1; }));
  job_->Stop(Cause::kCancelled);
  const Outcome outcome = Finish();
  EXPECT_EQ(Text(outcome), "CANCELLED ");
  EXPECT_FALSE(outcome.error->started);
  EXPECT_TRUE(RunUntil(loop_, [&] { return plan_.derived_alive == 0; }));
}

TEST_F(KeptJobsTest, LibrariesComeFromACellThatHasThem) {
  asks_.libraries = {"a"};
  asks_.program = false;
  EXPECT_EQ(Text(PlayKept("ok 1")), "ok 1");
  ASSERT_EQ(plan_.recipes.size(), 1u);
  EXPECT_EQ(plan_.recipes[0]->libraries.at(0)->code, "exports.a = 1");
  asks_.program = true;
  EXPECT_EQ(Text(PlayKept("ok 2")), "ok 2");
  ASSERT_EQ(plan_.recipes.size(), 2u);
  EXPECT_EQ(plan_.forks, 0);
}

TEST_F(KeptJobsTest, LibrariesThatFailAreNotTheProgramsFault) {
  plan_.libraries = Derived::kUnkeepable;
  asks_.libraries = {"a"};
  for (const bool program : {false, true}) {
    asks_.program = program;
    const Outcome outcome = PlayKept("ok 1");
    EXPECT_EQ(Text(outcome), "LOST ") << "waiting does not help, unlike with OVERLOADED";
    EXPECT_EQ(outcome.error->message, "libraries cannot be evaluated on this worker: a");
    EXPECT_EQ(outcome.error->fault, Fault::kInfrastructure);
    EXPECT_TRUE(outcome.error->retryable);
    EXPECT_FALSE(outcome.error->started);
  }
}

TEST_F(KeptJobsTest, AReceiptNamesTheBaseCellsBuildAndTheLibraries) {
  asks_.libraries = {"a"};
  asks_.receipt = true;
  asks_.seed = 7;
  const std::string receipt = PlayKept("ok 1").receipt;
  EXPECT_NE(
      receipt.find("\"libraries\":[{\"name\":\"a\",\"sha256\":\"" + Hex(Sha256("exports.a = 1")) + "\"}]"),
      std::string::npos)
      << receipt;
  EXPECT_NE(receipt.find("\"v8\":\"1.2.3-fake\""), std::string::npos);
  asks_.libraries = {};
  EXPECT_EQ(PlayKept("ok 1").receipt.find("libraries"), std::string::npos);
}

}  // namespace
}  // namespace skerry::agent
