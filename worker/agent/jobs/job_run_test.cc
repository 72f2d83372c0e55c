// One job through manager, isolate and verdict, with children of this test as isolates: what each may do to
// its worker.
#include "worker/agent/jobs/job_run.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <memory>
#include <set>
#include <thread>

#include "common/hash.h"
#include "common/logging.h"
#include "worker/agent/testing/fake_root.h"
#include "worker/agent/testing/job_run_fixture.h"

namespace skerry::agent {
namespace {

TEST_F(JobRunTest, ReportsTheValueWithWhatTheRunUsed) {
  const Outcome outcome = Play("event hello\nstatus {\"a\":1}\nsleep 5\nok 42");
  EXPECT_EQ(Text(outcome), "ok 42");
  EXPECT_EQ(outcome.attempt, 1u);
  EXPECT_GE(outcome.usage.wall_ms, 5);
  EXPECT_LT(outcome.usage.wall_ms, 1'000);
  EXPECT_GT(outcome.usage.cpu_ms, 0);
  EXPECT_EQ(outcome.usage.status_events, 1u);
  EXPECT_EQ(outcome.usage.console_events, 1u);
  EXPECT_EQ(outcome.usage.result_bytes, 2u);
  const auto events = uplink_.All<wire::Event>();
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].first.lease, LeaseId(9));
  EXPECT_EQ(events[0].second.at(0), "hello");
  EXPECT_EQ(events[1].second.at(0), "{\"a\":1}");
}

TEST_F(JobRunTest, SaysWhatWasRunToThoseWhoAskOnErrorsToo) {
  EXPECT_EQ(Play("ok 1").receipt, "");
  asks_.receipt = true;
  asks_.seed = 7;
  const std::string receipt = Play("seed").receipt;
  EXPECT_NE(receipt.find(R"("seed":7,)"), std::string::npos) << receipt;
  EXPECT_NE(receipt.find(R"("v8":"1.2.3-fake","v8Flags":"--fake")"), std::string::npos) << receipt;
  EXPECT_NE(receipt.find(Hex(Sha256("seed"))), std::string::npos) << receipt;
  EXPECT_EQ(Play("seed").receipt, receipt);
  EXPECT_EQ(Play("seed").value, "7");
  EXPECT_FALSE(Play("final RUNTIME program -").receipt.empty());
  EXPECT_FALSE(Play("sleep 10000", {{"timeoutMs", 20}}).receipt.empty());
}

TEST_F(JobRunTest, DrawsASeedOfItsOwnThatAJobCanAskForAndTellsOfIt) {
  asks_.receipt = true;
  std::set<std::string> seeds;
  for (int i = 0; i < 8; ++i) {
    const Outcome outcome = Play("seed");
    EXPECT_LE(std::stoull(outcome.value), kMaxSeed);
    EXPECT_NE(outcome.receipt.find("\"seed\":" + outcome.value + ","), std::string::npos) << outcome.receipt;
    seeds.insert(outcome.value);
  }
  EXPECT_EQ(seeds.size(), 8u);
}

TEST_F(JobRunTest, AJobThatRanAgainHasTheReceiptOfItsLastRun) {
  asks_.receipt = true;
  const Outcome outcome = Play("on-attempt 1 signal 11\nseed");
  EXPECT_EQ(outcome.attempt, 2u);
  EXPECT_NE(outcome.receipt.find("\"seed\":" + outcome.value + ","), std::string::npos) << outcome.receipt;
}

TEST_F(JobRunTest, AJobThatNeverStartedHasNoReceipt) {
  asks_.receipt = true;
  plan_.fork = FakeCellPlan::Fork::kNever;
  EXPECT_EQ(Play("ok 1").receipt, "");
}

TEST_F(JobRunTest, HashesALargeInputInTurnsBetweenWhichItCanBeCancelled) {
  asks_.receipt = true;
  const std::string input = "\"" + std::string(20'000'000, 'i') + "\"";
  Begin("input", {{"maxResultBytes", 30'000'000}}, Retry::kSafe, input);
  EXPECT_NE(Finish().receipt.find(Hex(Sha256(input))), std::string::npos);
  Begin("input", {}, Retry::kSafe, input);
  job_->Stop(Cause::kCancelled);
  const Outcome cancelled = Finish();
  EXPECT_EQ(Text(cancelled), "CANCELLED ");
  EXPECT_FALSE(cancelled.error->started);
  EXPECT_EQ(cancelled.receipt, "");
}

TEST_F(JobRunTest, HandsOverLargeCodeAndInputWithoutBlocking) {
  const std::string input = "\"" + std::string(20'000'000, 'i') + "\"";
  Begin("input", {{"maxResultBytes", 30'000'000}}, Retry::kSafe, input);
  const Outcome outcome = Finish();
  EXPECT_TRUE(outcome.ok());
  EXPECT_EQ(outcome.value.size(), input.size());
}

TEST_F(JobRunTest, CallsASigkillOutOfMemoryForAsManyDeathsAsTheOomKillerCounted) {
  FakeRoot root;
  root.Write("proc/vmstat", "oom_kill 5\n");
  options_.machine_root = root.path();
  EXPECT_EQ(Text(Play("signal 9", {}, Retry::kNever)), "LOST ") << "counted before the worker began";
  root.Write("proc/vmstat", "oom_kill 6\n");
  EXPECT_EQ(Text(Play("on-attempt 1 signal 9\nattempt")), "ok 2") << "the machine was short, not the job";
  root.Write("proc/vmstat", "oom_kill 7\n");
  EXPECT_EQ(Text(Play("signal 9", {}, Retry::kNever)), "OOM ");
  EXPECT_EQ(Text(Play("signal 9", {}, Retry::kNever)), "LOST ") << "one kill explains one death";
  root.Write("proc/vmstat", "oom_kill 8\n");
  EXPECT_EQ(Text(Play("alloc 24\nsignal 9", {{"memoryMb", 8}}, Retry::kNever)), "OOM memoryMb");
  EXPECT_EQ(Text(Play("signal 9", {}, Retry::kNever)), "LOST ") << "the one near its bound used it up";
  const WorkerStats figures = manager().Figures();
  EXPECT_EQ(figures.exits[static_cast<std::size_t>(IsolateExit::kOomKill)], 3u);
  EXPECT_EQ(figures.exits[static_cast<std::size_t>(IsolateExit::kForeignKill)], 3u);
}

TEST_F(JobRunTest, PassesOnTheErrorsThatAProgramCanHave) {
  EXPECT_EQ(Text(Play("final RUNTIME program -")), "RUNTIME ");
  EXPECT_EQ(Text(Play("final VALIDATION limit maxResultBytes")), "VALIDATION maxResultBytes");
  const Outcome oom = Play("final OOM limit memoryMb");
  EXPECT_EQ(Text(oom), "OOM memoryMb");
  EXPECT_EQ(oom.usage.heap_peak_bytes, 4242u);
  EXPECT_EQ(oom.error->message, "the isolate's words");
}

TEST_F(JobRunTest, KillsAtTheDeadlineAndKeepsTheEventsSentBeforeIt) {
  for (const char* end : {"hang", "spin", "partial\nhang", "call-only m 1\nhang"}) {
    const Outcome outcome = Play(std::string("event one\nevent two\n") + end, {{"timeoutMs", 100}});
    EXPECT_EQ(Text(outcome), "TIMEOUT timeoutMs") << end;
    EXPECT_TRUE(outcome.error->started);
    EXPECT_EQ(outcome.error->fault, Fault::kLimit);
    EXPECT_GE(outcome.usage.wall_ms, 100);
    EXPECT_LT(outcome.usage.wall_ms, 1'000);
    EXPECT_EQ(uplink_.All<wire::Event>().size(), 2u) << end;
  }
}

// The loop does not run while a test sleeps: a worker that the machine has stopped.
TEST_F(JobRunTest, BlamesNoJobForWhatItsWorkerSlept) {
  struct Case {
    std::string script, end;
  };
  const std::vector<Case> cases = {
      {"sleep 20\nbig 4000000", "ok"},    // most of it waits for the worker to read
      {"sleep 20\nsignal 11", "CRASH "},  // and that it died in time for it to see
      {"sleep 20\nsignal 9", "LOST "},
      {"sleep 20\ncall m 1\necho", "ok"},  // no answer came, for want of a worker to bring it
      {"hang", "TIMEOUT timeoutMs"},
      {"spin", "TIMEOUT timeoutMs"},
      {"close\nsleep 20\nsignal 9", "LOST "},  // its socket went first, as when much memory is freed
  };
  uplink_.on_send = [this](const wire::Header& header) {
    if (!std::holds_alternative<wire::Call>(header)) return;
    wire::Answer answer;
    answer.call = 1;
    loop_.Post([this, answer] { job_->Answer(answer, "1"); });
  };
  for (const Case& one : cases) {
    Begin("event up\n" + one.script, {{"timeoutMs", 500}}, Retry::kNever);
    ASSERT_TRUE(RunUntil(loop_, [&] { return !uplink_.All<wire::Event>().empty(); }));
    std::this_thread::sleep_for(Millis(1'300));
    const Outcome outcome = Finish();
    EXPECT_EQ(Text(outcome).substr(0, one.end.size()), one.end) << one.script;
    EXPECT_LT(outcome.usage.wall_ms, 3'000) << one.script;
  }
}

TEST_F(JobRunTest, KillsWhenTheCpuLimitIsUsedUpHoweverLongItSlept) {
  const Outcome outcome = Play("sleep 100\nspin", {{"cpuMs", 60}});
  EXPECT_EQ(Text(outcome), "TIMEOUT cpuMs");
  EXPECT_GE(outcome.usage.cpu_ms, 60);
  EXPECT_LT(outcome.usage.cpu_ms, 400);
  EXPECT_GE(outcome.usage.wall_ms, 150);
  EXPECT_EQ(Text(Play("sleep 100\nok 1", {{"cpuMs", 60}})), "ok 1");
}

TEST_F(JobRunTest, SetsTheDataLimitBeforeTheJobRuns) {
  EXPECT_EQ(Text(Play("cannot-map 64", {{"memoryMb", 32}})), "ok true");
  EXPECT_EQ(Text(Play("cannot-map 16", {{"memoryMb", 32}})), "ok false");
}

TEST_F(JobRunTest, KillsWhatGrowsPastItsMemoryUnseenByTheDataLimit) {
  const Outcome outcome = Play("alloc 128\nhang", {{"memoryMb", 16}, {"timeoutMs", 5'000}});
  EXPECT_EQ(Text(outcome), "OOM memoryMb");
  EXPECT_GT(outcome.usage.memory_peak_bytes, (16u + 32) << 20) << "budget and slack";
  EXPECT_EQ(Text(Play("alloc 40\nsleep 50\nok 1", {{"memoryMb", 16}})), "ok 1") << "within the slack";
}

TEST_F(JobRunTest, TakesADeathBySignalNearTheBudgetForOutOfMemory) {
  EXPECT_EQ(Text(Play("alloc 60\nsignal 6", {{"memoryMb", 48}})), "OOM memoryMb");
  EXPECT_EQ(Text(Play("alloc 60\nsignal 6", {{"memoryMb", 128}}, Retry::kNever)), "CRASH ");
}

TEST_F(JobRunTest, NamesTheSignalOfACrashAndRunsItOnceMore) {
  for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGABRT, SIGSYS}) {
    const Outcome outcome = Play("event hi\nsignal " + std::to_string(signal));
    EXPECT_EQ(Text(outcome), "CRASH ");
    EXPECT_NE(outcome.error->message.find("SIG"), std::string::npos) << outcome.error->message;
    EXPECT_EQ(outcome.attempt, 2u);
    const auto events = uplink_.All<wire::Event>();
    ASSERT_EQ(events.size(), 2u) << "a re-run repeats them";
    EXPECT_EQ(events[0].first.attempt, 1u);
    EXPECT_EQ(events[1].first.attempt, 2u);
  }
}

TEST_F(JobRunTest, SaysThatARunCrashedHoweverTheNextOneEnds) {
  struct Case {
    std::string script;
    std::uint32_t crashes;
  };
  for (const Case& one : std::vector<Case>{{"on-attempt 1 signal 11\nok 1", 1},
                                           {"on-attempt 1 signal 11\nspin", 1},
                                           {"on-attempt 1 signal 11\nsignal 9", 1},
                                           {"signal 11", 2},
                                           {"exit 1", 1},
                                           {"garbage\nhang", 1},
                                           {"on-attempt 1 signal 9\nok 1", 0},
                                           {"signal 9", 0},
                                           {"spin", 0},
                                           {"ok 1", 0}}) {
    Play(one.script, {{"timeoutMs", 100}});
    EXPECT_EQ(uplink_.All<wire::Final>().at(0).first.crashes, one.crashes) << one.script;
  }
}

TEST_F(JobRunTest, GivesTheOutcomeOfTheSecondRunWhenThatOneWorks) {
  const Outcome outcome = Play("on-attempt 1 signal 11\nattempt");
  EXPECT_EQ(Text(outcome), "ok 2");
  EXPECT_EQ(outcome.attempt, 2u);
}

TEST_F(JobRunTest, DoesNotRunAgainWhatMadeAHostCallOrForbidsIt) {
  EXPECT_EQ(Play("call-only m 1\nsignal 11").attempt, 1u);
  EXPECT_EQ(Play("signal 11", {}, Retry::kNever).attempt, 1u);
  EXPECT_EQ(Play("call-only m 1\nsignal 11", {}, Retry::kAlways).attempt, 2u);
}

TEST_F(JobRunTest, CallsAKillFromOutsideLostAndRunsItAgain) {
  EXPECT_EQ(Text(Play("on-attempt 1 signal 9\nattempt")), "ok 2");
  const Outcome outcome = Play("signal 9");
  EXPECT_EQ(Text(outcome), "LOST ");
  EXPECT_EQ(outcome.error->fault, Fault::kInfrastructure);
  EXPECT_TRUE(outcome.error->started);
}

TEST_F(JobRunTest, CallsAnExitWithoutAFinalACrashAndNeverRunsItAgain) {
  for (const char* script : {"exit 0", "exit 3", "event x\nexit 0", "partial\nexit 0", ""}) {
    const Outcome outcome = Play(script, {}, Retry::kAlways);
    EXPECT_EQ(Text(outcome), "CRASH ") << script;
    EXPECT_EQ(outcome.attempt, 1u) << script;
  }
}

TEST_F(JobRunTest, EndsABrokenProtocolAtOnceAndNeverRunsItAgain) {
  for (const char* script :
       {"garbage\nhang", "oversized\nhang", "unknown-message\nhang", "headerless\nhang", "raw-status {\nhang",
        "ok {\nhang", "final LOST infrastructure -\nhang", "final TIMEOUT limit timeoutMs\nhang",
        "call m {\nhang", "final RUNTIME infrastructure -\nhang", "event-not-utf8\nhang"}) {
    const TimePoint before = loop_.Now();
    const Outcome outcome = Play(script, {}, Retry::kAlways);
    EXPECT_EQ(Text(outcome), "CRASH ") << script;
    EXPECT_NE(outcome.error->message.find("broke the protocol"), std::string::npos) << outcome.error->message;
    EXPECT_EQ(outcome.attempt, 1u) << script;
    EXPECT_LT(loop_.Now() - before, Millis(2'000)) << script;
  }
}

TEST_F(JobRunTest, EndsWhatClosesItsSocketAndLivesOn) {
  EXPECT_EQ(Text(Play("close\nhang", {{"timeoutMs", 20'000}})), "CRASH ");
}

TEST_F(JobRunTest, HoldsALyingIsolateToEveryLimit) {
  std::string events;
  for (int i = 0; i < 10; ++i) events += "event x\nstatus 1\n";
  const Outcome outcome = Play(events + "dropped 5\nok 1", {{"maxConsoleEvents", 3}, {"maxStatusEvents", 4}});
  EXPECT_EQ(outcome.usage.console_events, 3u);
  EXPECT_EQ(outcome.usage.status_events, 4u);
  EXPECT_EQ(outcome.usage.dropped_events, 7u + 6 + 5);
  EXPECT_EQ(uplink_.All<wire::Event>().size(), 7u);
  EXPECT_EQ(Text(Play("big 101", {{"maxResultBytes", 100}})), "CRASH ");
  EXPECT_EQ(Text(Play("call-only m 1\ncall-only m 1\nhang", {{"maxDataRequests", 1}})), "CRASH ");
}

TEST_F(JobRunTest, DeliversAResultOfExactlyItsLimit) {
  const Outcome outcome = Play("big 5000000", {{"maxResultBytes", 5'000'000}});
  EXPECT_TRUE(outcome.ok());
  EXPECT_EQ(outcome.usage.result_bytes, 5'000'000u);
}

TEST_F(JobRunTest, KeepsReadingAFloodUntilTheDeadlineAndBoundsWhatItForwards) {
  const Outcome outcome = Play("flood", {{"timeoutMs", 200}});
  EXPECT_EQ(Text(outcome), "TIMEOUT timeoutMs");
  EXPECT_LT(outcome.usage.wall_ms, 1'000);
  EXPECT_EQ(outcome.usage.console_events, 1'000u);
  EXPECT_EQ(uplink_.All<wire::Event>().size(), 1'000u);
  EXPECT_GT(outcome.usage.dropped_events, 100u);
}

TEST_F(JobRunTest, LetsTheFirstFinalStandAgainstASecondAndAgainstNoiseBehindIt) {
  EXPECT_EQ(Text(Play("ok 1\nok 2")), "ok 1");
  EXPECT_EQ(Text(Play("ok 1\ngarbage\nsignal 11")), "ok 1");
}

TEST_F(JobRunTest, EndsWhatLivesOnBehindItsFinalAndKeepsItsVerdict) {
  const TimePoint before = loop_.Now();
  EXPECT_EQ(Text(Play("ok 1\nhang")), "ok 1");
  EXPECT_LT(loop_.Now() - before, Millis(2'000));
}

TEST_F(JobRunTest, RelaysHostCallsAndTheirAnswers) {
  Begin("call score {\"x\":1}\necho", {{"maxDataBytes", 10}});
  ASSERT_TRUE(RunUntil(loop_, [&] { return !uplink_.All<wire::Call>().empty(); }));
  const auto call = uplink_.All<wire::Call>()[0];
  EXPECT_EQ(call.first.call, 1u);
  EXPECT_EQ(call.first.lease, LeaseId(9));
  EXPECT_EQ(call.second, (std::vector<std::string>{"score", "{\"x\":1}"}));
  wire::Answer answer;
  answer.call = 1;
  answer.attempt = 2;
  job_->Answer(answer, "666");  // of a run that never was
  answer.attempt = 1;
  answer.call = 7;
  job_->Answer(answer, "667");  // to no call
  answer.call = 1;
  job_->Answer(answer, "1234567890");
  job_->Answer(answer, "668");  // a second time
  const Outcome outcome = Finish();
  EXPECT_EQ(Text(outcome), "ok 1234567890");
  EXPECT_EQ(outcome.usage.data_requests, 1u);
  EXPECT_EQ(outcome.usage.data_bytes, 10u);
}

TEST_F(JobRunTest, RefusesTheAnswerThatPassesMaxDataBytesWithoutDeliveringIt) {
  Begin("call score 1\necho", {{"maxDataBytes", 10}});
  ASSERT_TRUE(RunUntil(loop_, [&] { return !uplink_.All<wire::Call>().empty(); }));
  wire::Answer answer;
  answer.call = 1;
  job_->Answer(answer, "12345678901");
  const Outcome outcome = Finish();
  EXPECT_EQ(Text(outcome), "ok \"refused:\"");
  EXPECT_EQ(outcome.usage.data_bytes, 0u);
}

TEST_F(JobRunTest, CancelsARunningJob) {
  Begin("event up\nspin");
  ASSERT_TRUE(RunUntil(loop_, [&] { return !uplink_.All<wire::Event>().empty(); }));
  job_->Stop(Cause::kCancelled);
  const Outcome outcome = Finish();
  EXPECT_EQ(Text(outcome), "CANCELLED ");
  EXPECT_EQ(outcome.error->fault, Fault::kClient);
  EXPECT_TRUE(outcome.error->started);
}

TEST_F(JobRunTest, CancelsAJobThatStillWaitsForAnIsolate) {
  options_.max_spares = 0;
  plan_.fork = FakeCellPlan::Fork::kNever;
  Begin("ok 1");
  job_->Stop(Cause::kCancelled);
  const Outcome outcome = Finish();
  EXPECT_EQ(Text(outcome), "CANCELLED ");
  EXPECT_FALSE(outcome.error->started);
  EXPECT_EQ(manager().waiting(), 0u);
}

TEST_F(JobRunTest, TurnsDownAJobThatNoCellForksForWithinItsTime) {
  options_.max_spares = 0;
  plan_.fork = FakeCellPlan::Fork::kNever;
  const Outcome outcome = Play("ok 1", {}, Retry::kNever);
  EXPECT_EQ(Text(outcome), "OVERLOADED ");
  EXPECT_FALSE(outcome.error->started);
  EXPECT_TRUE(outcome.error->retryable);
}

TEST_F(JobRunTest, LosesAJobThatHasRunAndNoCellForksForAgain) {
  options_.max_spares = 0;
  Begin("signal 11");
  ASSERT_TRUE(RunUntil(loop_, [&] { return plan_.forks >= 1; }));
  plan_.fork = FakeCellPlan::Fork::kNever;
  const Outcome outcome = Finish();
  EXPECT_EQ(Text(outcome), "LOST ");
  EXPECT_TRUE(outcome.error->started);
}

TEST_F(JobRunTest, HandsAJobToAnotherIsolateWhenTheFirstFailsBeforeItStarts) {
  options_.max_spares = 0;
  plan_.fork = FakeCellPlan::Fork::kSpeaksFirst;
  // A large input: it cannot all be written before the isolate is heard.
  Begin("input", {{"maxResultBytes", 4'000'000}}, Retry::kNever, "\"" + std::string(2'000'000, 'x') + "\"");
  ASSERT_TRUE(RunUntil(loop_, [&] { return plan_.forks >= 1; }));
  plan_.fork = FakeCellPlan::Fork::kGood;
  const Outcome outcome = Finish();
  EXPECT_TRUE(outcome.ok()) << Text(outcome);
  EXPECT_EQ(outcome.attempt, 1u) << "no program had run";
}

TEST_F(JobRunTest, LosesAJobThatNoIsolateTakes) {
  options_.max_spares = 0;
  plan_.fork = FakeCellPlan::Fork::kSpeaksFirst;
  Begin("ok 1", {}, Retry::kSafe, "\"" + std::string(2'000'000, 'x') + "\"");
  const Outcome outcome = Finish();
  EXPECT_EQ(Text(outcome), "LOST ");
  EXPECT_FALSE(outcome.error->started);
  EXPECT_EQ(plan_.forks, 3) << "one and two more";
}

TEST_F(JobRunTest, CountsEventsThatTheLinkCouldNotTake) {
  uplink_.drop_events = true;
  EXPECT_EQ(Play("event a\nevent b\nok 1").usage.dropped_events, 2u);
}

}  // namespace
}  // namespace skerry::agent
