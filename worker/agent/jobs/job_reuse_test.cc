// Jobs that share an isolate, one after the other, with children of this test as isolates: who may, for how
// long, and whom a death in one that others have used is blamed on.
#include <gtest/gtest.h>
#include <signal.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "worker/agent/testing/job_run_fixture.h"

namespace skerry::agent {
namespace {

class JobReuse : public JobRunTest {
 protected:
  JobReuse() {
    options_.max_concurrent_isolates = 4;
    options_.max_spares = 2;
    options_.max_wait = Millis(10'000);
    asks_.reuse = Reuse::kContext;
  }

  JobRun& Begin(const std::string& script, RequestedLimits limits = {}) {
    jobs_.push_back(
        Make(LeaseId(++last_lease_), script, std::move(limits), asks_.retry, "", [this] { ++ended_; }));
    jobs_.back()->Begin();
    return *jobs_.back();
  }
  /// The outcome of the last job that began, whose end is awaited.
  Outcome Finish() {
    EXPECT_TRUE(RunUntil(loop_, [&] { return ended_ == jobs_.size(); }));
    const auto finals = uplink_.All<wire::Final>();
    EXPECT_EQ(finals.size(), jobs_.size()) << "exactly one final each";
    for (const auto& [final, payloads] : finals) {
      if (final.lease == LeaseId(last_lease_)) return wire::ToOutcome(final, payloads.at(0));
    }
    ADD_FAILURE() << "no final";
    return {};
  }
  Outcome Play(const std::string& script, RequestedLimits limits = {}) {
    Begin(script, std::move(limits));
    return Finish();
  }
  std::uint64_t Exits(IsolateExit exit) { return manager().Figures().exits[static_cast<std::size_t>(exit)]; }

  std::vector<std::unique_ptr<JobRun>> jobs_;
  std::size_t ended_ = 0;
  std::uint64_t last_lease_ = 0;
};

TEST_F(JobReuse, OneIsolateRunsTheJobsOfOneTenantOneAfterTheOther) {
  for (int i = 1; i <= 5; ++i) {
    const Outcome outcome = Play("event hi\njobs");
    EXPECT_EQ(Text(outcome), "ok " + std::to_string(i));
    EXPECT_EQ(outcome.attempt, 1u);
    EXPECT_EQ(outcome.usage.console_events, 1u);
  }
  EXPECT_EQ(manager().ledger().leases(), 0u) << "one that waits is no lease";
  EXPECT_EQ(manager().keeper().size(), 1u);
  EXPECT_EQ(Exits(IsolateExit::kFinished), 0u);
}

TEST_F(JobReuse, SharesNothingWithJobsThatDoNotAskOrAreAnotherTenantsOrAskForOtherThings) {
  EXPECT_EQ(Text(Play("jobs")), "ok 1");
  asks_.tenant = TenantId("other");
  EXPECT_EQ(Text(Play("jobs")), "ok 1");
  asks_.tenant = TenantId("default");
  asks_.wasm = true;
  EXPECT_EQ(Text(Play("jobs")), "ok 1");
  asks_.wasm = false;
  EXPECT_EQ(Text(Play("jobs", {{"memoryMb", 65}})), "ok 1");
  asks_.program = true;
  EXPECT_EQ(Text(Play("jobs")), "ok 1");
  asks_.program = false;
  asks_.reuse = Reuse::kNone;
  EXPECT_EQ(Text(Play("jobs")), "ok 1");
  asks_.reuse = Reuse::kContext;
  EXPECT_EQ(Text(Play("jobs", {{"timeoutMs", 1'234}})), "ok 1")
      << "the first one's had to make room: two are kept";
  EXPECT_EQ(Text(Play("jobs", {{"timeoutMs", 4'321}})), "ok 2") << "other limits are each job's own";
  EXPECT_EQ(manager().keeper().size(), 2u);
}

TEST_F(JobReuse, GoesOnBehindProgramsThatFailedByThemselvesOnly) {
  for (const char* script :
       {"final COMPILE program -", "final RUNTIME program -", "final VALIDATION program -"}) {
    EXPECT_FALSE(Play(script).ok());
    EXPECT_EQ(manager().keeper().size(), 1u) << script;
  }
  EXPECT_EQ(Text(Play("jobs")), "ok 4");
  for (const char* script :
       {"on-job 1 signal 11\nfinal LIMIT limit maxDataBytes", "final OOM limit memoryMb", "spin"}) {
    Play("jobs");
    Play(script, {{"timeoutMs", 100}});
    EXPECT_EQ(manager().keeper().size(), 0u) << script;
  }
}

TEST_F(JobReuse, EndsAnIsolateAfterItsHundredthJob) {
  for (std::uint32_t i = 1; i <= IsolateKeeper::kMaxJobs; ++i) {
    ASSERT_EQ(Text(Play("jobs")), "ok " + std::to_string(i));
  }
  EXPECT_EQ(manager().keeper().size(), 0u);
  EXPECT_EQ(Exits(IsolateExit::kFinished), 1u);
  EXPECT_EQ(Text(Play("jobs")), "ok 1");
}

TEST_F(JobReuse, AJobWaitsForTheOneThatIsBeingMadeReadyRatherThanForAFork) {
  EXPECT_EQ(Text(Play("ok 1\nsleep 50")), "ok 1");
  EXPECT_EQ(Text(Play("jobs")), "ok 2");
}

TEST_F(JobReuse, AJobThatWaitsForOneThatFailsRunsInAFreshOne) {
  EXPECT_EQ(Text(Play("ok 1\nsleep 50\nsignal 11")), "ok 1");
  EXPECT_EQ(Text(Play("jobs")), "ok 1");
  EXPECT_EQ(Exits(IsolateExit::kDiedIdle), 1u);
  EXPECT_EQ(Text(Play("ok 1\nsleep 50\nevent stray")), "ok 1");
  EXPECT_EQ(Text(Play("jobs")), "ok 1");
  EXPECT_EQ(Exits(IsolateExit::kKilledProtocol), 1u);
}

TEST_F(JobReuse, AJobCanBeCancelledWhileItWaitsForOneThatIsBeingMadeReady) {
  EXPECT_EQ(Text(Play("ok 1\nsleep 50")), "ok 1");
  Begin("jobs").Stop(Cause::kCancelled);
  EXPECT_EQ(Text(Finish()), "CANCELLED ");
  EXPECT_EQ(Text(Play("jobs")), "ok 2") << "it is the next one's";
}

TEST_F(JobReuse, TakesNothingThatAnEarlierJobSentForALaters) {
  for (const char* behind : {"ok 666", "event late", "garbage", "partial", "call-only m 1", "dropped 7"}) {
    EXPECT_EQ(Text(Play(std::string("ok 1\n") + behind)), "ok 1") << behind;
    const Outcome next = Play("jobs");
    EXPECT_EQ(Text(next), "ok 1") << behind;
    EXPECT_EQ(next.usage.console_events, 0u);
    EXPECT_EQ(next.usage.dropped_events, 0u);
    manager().keeper().Drop(1);
  }
  EXPECT_TRUE(uplink_.All<wire::Event>().empty());
}

TEST_F(JobReuse, AnAnswerThatCameTooLateIsNoneForTheNext) {
  JobRun& first = Begin("call-only m 1\nsleep 30\nok 1");
  ASSERT_TRUE(RunUntil(loop_, [&] { return !uplink_.All<wire::Call>().empty(); }));
  wire::Answer answer;
  answer.call = 1;
  first.Answer(answer, "666");
  EXPECT_EQ(Text(Finish()), "ok 1");
  JobRun& second = Begin("call m 1\necho");
  ASSERT_TRUE(RunUntil(loop_, [&] { return uplink_.All<wire::Call>().size() == 2; }));
  second.Answer(answer, "7");
  EXPECT_EQ(Text(Finish()), "ok 7");
  EXPECT_EQ(Text(Play("jobs")), "ok 3");
}

TEST_F(JobReuse, RunsAJobAgainThatDiedWhereOthersHadRun) {
  for (const char* death :
       {"signal 11", "signal 9", "exit 3", "garbage\nhang", "final OOM limit memoryMb", "spin"}) {
    EXPECT_EQ(Text(Play("ok 1")), "ok 1");
    const Outcome outcome = Play(std::string("on-job 1 jobs\n") + death, {{"timeoutMs", 100}});
    EXPECT_EQ(Text(outcome), "ok 1") << death;
    EXPECT_EQ(outcome.attempt, 2u) << death;
    manager().keeper().Drop(1);
    manager().keeper().Drop(2);
  }
  EXPECT_EQ(manager().Figures().reruns, 6u);
}

TEST_F(JobReuse, ThatOnceOnlyAndWithItsOwnVerdictThen) {
  Play("ok 1");
  const Outcome crash = Play("signal 11");
  EXPECT_EQ(Text(crash), "CRASH ");
  EXPECT_EQ(crash.attempt, 2u);
  Play("ok 1");
  EXPECT_EQ(Text(Play("final OOM limit memoryMb")), "OOM memoryMb");
  Play("ok 1");
  EXPECT_EQ(Text(Play("spin", {{"cpuMs", 60}})), "TIMEOUT cpuMs");
}

TEST_F(JobReuse, BlamesNoProgramForADeathWhereOthersHadRunAndItMayNotRunAgain) {
  for (const char* death : {"signal 11", "exit 3", "garbage\nhang", "final OOM limit memoryMb", "signal 9"}) {
    asks_.retry = Retry::kSafe;
    Play("ok 1");
    asks_.retry = Retry::kNever;
    const Outcome outcome = Play(death);
    EXPECT_EQ(Text(outcome), "LOST ") << death;
    EXPECT_EQ(outcome.error->fault, Fault::kInfrastructure) << death;
    EXPECT_TRUE(outcome.error->started);
    EXPECT_EQ(outcome.attempt, 1u);
  }
  asks_.retry = Retry::kSafe;
  Play("ok 1");
  EXPECT_EQ(Text(Play("call-only m 1\nsignal 11")), "LOST ") << "it had made a host call";
  Play("ok 1");
  asks_.retry = Retry::kNever;
  EXPECT_EQ(Text(Play("spin", {{"cpuMs", 60}})), "LOST ");
  asks_.retry = Retry::kSafe;
  Play("ok 1");
  asks_.retry = Retry::kNever;
  EXPECT_EQ(Text(Play("hang", {{"timeoutMs", 50}})), "TIMEOUT timeoutMs")
      << "the worker's clock is nobody's doing";
}

TEST_F(JobReuse, CountsACrashForWhoeverWatchesThemWhomeverItIsBlamedOn) {
  Play("ok 1");
  Play("on-job 1 ok 1\non-job 2 signal 11");
  asks_.retry = Retry::kNever;
  Play("signal 11");
  const auto finals = uplink_.All<wire::Final>();
  ASSERT_EQ(finals.size(), 3u);
  EXPECT_EQ(finals[1].first.crashes, 1u);
  EXPECT_EQ(finals[2].first.crashes, 1u);
}

TEST_F(JobReuse, KeepsNoneThatIsTooLargeNiceOrForWhichLeasesLeaveNoMemory) {
  Play("alloc 20\nok 1");
  EXPECT_EQ(Text(Play("jobs")), "ok 1") << "20 MiB were left in it";
  manager().keeper().Drop(1);
  Play("alloc 10\nok 1");
  EXPECT_EQ(Text(Play("jobs")), "ok 2") << "10 MiB are within bounds";
  EXPECT_EQ(Text(Play("on-job 3 ok 1")), "ok 1");
  manager().FitKept();
  EXPECT_EQ(manager().keeper().size(), 1u);
  const std::uint64_t rest = manager().ledger().memory_mb();
  auto most = manager().Acquire(rest - IsolateKeeper::kKeptMb);
  manager().FitKept();
  EXPECT_EQ(manager().keeper().size(), 1u) << "exactly room for it";
  auto one_more = manager().Acquire(1);
  manager().FitKept();
  EXPECT_EQ(manager().keeper().size(), 0u);
}

TEST_F(JobReuse, CountsWhatEachJobUsedFromItsOwnBeginning) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer keeps what was freed: more is left over than may be";
#endif
  const Outcome first = Play("alloc 12\nok 1");
  EXPECT_GE(first.usage.memory_peak_bytes, 12u << 20);
  const Outcome second = Play("sleep 20\njobs");
  EXPECT_EQ(Text(second), "ok 2");
  EXPECT_LT(second.usage.memory_peak_bytes, 8u << 20);
  EXPECT_LT(second.usage.cpu_ms, 10);
  EXPECT_GE(second.usage.wall_ms, 20);
}

TEST_F(JobReuse, LetsThoseGoThatWait) {
  Play("ok 1");
  ASSERT_EQ(manager().keeper().size(), 1u);
  manager().StopSpares();
  EXPECT_EQ(manager().keeper().size(), 0u) << "the worker drains";
  Play("ok 1");
  EXPECT_EQ(manager().keeper().size(), 0u);
}

TEST_F(JobReuse, KeepsAtMostMaxSparesAndLetsTheOldestGo) {
  for (const char* tenant : {"a", "b", "c"}) {
    asks_.tenant = TenantId(tenant);
    Play("ok 1");
  }
  EXPECT_EQ(manager().keeper().size(), 2u);
  EXPECT_EQ(Exits(IsolateExit::kFinished), 1u);
  asks_.tenant = TenantId("b");
  EXPECT_EQ(Text(Play("jobs")), "ok 2");
  asks_.tenant = TenantId("a");
  EXPECT_EQ(Text(Play("jobs")), "ok 1");
}

}  // namespace
}  // namespace skerry::agent
