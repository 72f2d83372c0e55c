// The whole worker but for V8: a broker played by the test's thread, isolates by its children.
#include "worker/agent/worker.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <functional>
#include <thread>

#include "common/hash.h"
#include "common/logging.h"
#include "common/wire/stats.h"
#include "worker/agent/link/broker_link_fake_broker.h"
#include "worker/agent/testing/fake_cell.h"

namespace skerry::agent {
namespace {

class WorkerTest : public ::testing::Test {
 protected:
  WorkerTest() {
    (void)InitLogging("test", "off");
    options_.brokers = {broker_.url()};
    options_.isolates = 2;
    options_.spares = 1;
    options_.memory_mb = 1024;
    options_.id = "w1";
    options_.max_job_memory_mb = 512;
  }

  // Runs the worker while `script` plays the broker; its exit status.
  int Serve(const std::function<void()>& script) {
    EventLoop loop;
    Worker worker(loop, options_, FakeCells(plan_));
    std::thread broker(script);
    const int status = worker.Run();
    broker.join();
    return status;
  }
  static void Terminate() { ::kill(::getpid(), SIGTERM); }
  // Drains an idle worker.
  void Leave() {
    Terminate();
    broker_.Next<wire::Drain>();
    broker_.Next<wire::Bye>();
  }

  FakeBroker broker_;
  FakeCellPlan plan_;
  WorkerOptions options_;
};

TEST_F(WorkerTest, SaysWhoItIsAndWhatItCanTake) {
  EXPECT_EQ(Serve([&] {
              const auto hello = broker_.Greet();
              ASSERT_TRUE(hello);
              EXPECT_EQ(hello->role, wire::Role::kWorker);
              EXPECT_EQ(hello->session, SessionId("w1"));
              EXPECT_EQ(hello->slots, 2u);
              EXPECT_EQ(hello->memory_mb, 1024 - 2 * IsolateManager::kCellMb - IsolateManager::kSpareMb);
              EXPECT_EQ(hello->job_memory_mb, 512u);
              Leave();
            }),
            0);
}

TEST_F(WorkerTest, TellsABrokerThatAsksWhatItsIsolatesAndCellsDid) {
  broker_.capabilities = {"stats"};
  Serve([&] {
    const auto hello = broker_.Greet();
    ASSERT_TRUE(hello);
    EXPECT_EQ(hello->v8, "1.2.3-fake");
    EXPECT_EQ(hello->sandbox, "seccomp");
    EXPECT_EQ(hello->capabilities, (std::vector<std::string>{"stats", "wasm", "reproducible", "programs"}));
    broker_.Dispatch(1, "ok 1", {{"memoryMb", 64}});
    ASSERT_TRUE(broker_.Next<wire::Final>());
    broker_.Dispatch(2, "spin", {{"memoryMb", 64}, {"timeoutMs", 50}});
    ASSERT_TRUE(broker_.Next<wire::Final>());
    Terminate();
    WorkerStats last;
    for (auto stats = broker_.Next<wire::Stats>(); stats;) {
      last = wire::FromStats(*stats);
      if (last.exits[static_cast<std::size_t>(IsolateExit::kKilledTimeout)] > 0) break;
      stats = broker_.Next<wire::Stats>();
    }
    broker_.Next<wire::Bye>();
    EXPECT_EQ(last.exits[static_cast<std::size_t>(IsolateExit::kFinished)], 1u);
    EXPECT_EQ(last.exits[static_cast<std::size_t>(IsolateExit::kKilledTimeout)], 1u);
    EXPECT_GE(last.fork_times.sum_us(), 1u);
    EXPECT_EQ(last.cells, 1u);
  });
}

TEST_F(WorkerTest, RunsJobsAndAnswersEachWithOneFinalOfItsLease) {
  Serve([&] {
    broker_.Greet();
    for (std::uint64_t lease = 1; lease <= 200; ++lease) {
      broker_.Dispatch(lease, "event e\nok " + std::to_string(lease), {{"memoryMb", 64}});
      const auto event = broker_.Next<wire::Event>();
      ASSERT_TRUE(event);
      EXPECT_EQ(event->lease.value(), lease);
      const auto final = broker_.Next<wire::Final>();
      ASSERT_TRUE(final);
      EXPECT_EQ(final->lease.value(), lease);
      EXPECT_TRUE(final->ok);
      EXPECT_EQ(broker_.payloads.at(0), std::to_string(lease));
    }
    Leave();
  });
  EXPECT_EQ(plan_.started, 1);
}

TEST_F(WorkerTest, RefusesWhatIsPastItsCapacityAndRunsTheRest) {
  Serve([&] {
    broker_.Greet();
    for (std::uint64_t lease = 1; lease <= 3; ++lease)
      broker_.Dispatch(lease, "sleep 100\nok 1", {{"memoryMb", 64}});
    const auto refused = broker_.Next<wire::Final>();
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->lease, LeaseId(3));
    EXPECT_EQ(refused->code, Code::kOverloaded);
    EXPECT_FALSE(refused->started);
    EXPECT_GT(refused->retry_after_ms, 0u);
    EXPECT_EQ(wire::ToOutcome(*refused, broker_.payloads.at(0)).error->message,
              "IsolateManager at capacity (2)");
    EXPECT_TRUE(broker_.Next<wire::Final>()->ok);
    EXPECT_TRUE(broker_.Next<wire::Final>()->ok);
    Leave();
  });
}

TEST_F(WorkerTest, RefusesBudgetsPastItsMemoryAndJobsThatNoCellCanGive) {
  Serve([&] {
    broker_.Greet();
    broker_.Dispatch(1, "sleep 100\nok 1", {{"memoryMb", 500}});
    broker_.Dispatch(2, "ok 1", {{"memoryMb", 500}});
    const auto overloaded = broker_.Next<wire::Final>();
    EXPECT_EQ(overloaded->code, Code::kOverloaded);
    EXPECT_NE(wire::ToOutcome(*overloaded, broker_.payloads.at(0)).error->message.find("workerMemoryMb"),
              std::string::npos);
    broker_.Dispatch(3, "ok 1", {{"memoryMb", 513}});
    const auto invalid = broker_.Next<wire::Final>();
    EXPECT_EQ(invalid->code, Code::kValidation);
    EXPECT_EQ(invalid->limit, "memoryMb");
    EXPECT_TRUE(broker_.Next<wire::Final>()->ok);
    Leave();
  });
}

TEST_F(WorkerTest, RelaysCallsAnswersAndCancels) {
  Serve([&] {
    broker_.Greet();
    broker_.Dispatch(1, "call m 7\necho");
    const auto call = broker_.Next<wire::Call>();
    ASSERT_TRUE(call);
    EXPECT_EQ(broker_.payloads, (std::vector<std::string>{"m", "7"}));
    wire::Answer answer;
    answer.lease = LeaseId(1);
    answer.call = call->call;
    broker_.Send(answer, {"\"seven\""});
    EXPECT_TRUE(broker_.Next<wire::Final>()->ok);
    EXPECT_EQ(broker_.payloads.at(0), "\"seven\"");

    broker_.Dispatch(2, "event up\nspin");
    broker_.Next<wire::Event>();
    wire::Cancel cancel;
    cancel.lease = LeaseId(2);
    broker_.Send(cancel);
    EXPECT_EQ(broker_.Next<wire::Final>()->code, Code::kCancelled);
    broker_.Send(cancel);  // too late: nothing happens
    Leave();
  });
}

TEST_F(WorkerTest, FinishesItsJobsWhenToldToStopAndThenSaysGoodbye) {
  EXPECT_EQ(Serve([&] {
              broker_.Greet();
              broker_.Dispatch(1, "event up\nsleep 200\nok 1");
              broker_.Next<wire::Event>();
              Terminate();
              broker_.Next<wire::Drain>();
              // Sent before the broker had read the DRAIN: still taken.
              broker_.Dispatch(2, "ok 2");
              const auto second = broker_.Next<wire::Final>();
              EXPECT_EQ(second->lease, LeaseId(2));
              EXPECT_TRUE(second->ok);
              EXPECT_TRUE(broker_.Next<wire::Final>()->ok);
              broker_.Next<wire::Bye>();
            }),
            0);
}

TEST_F(WorkerTest, EndsItsJobsAsLostWhenToldToStopTwice) {
  EXPECT_EQ(Serve([&] {
              broker_.Greet();
              broker_.Dispatch(1, "event up\nspin");
              broker_.Dispatch(2, "event up\nhang");
              broker_.Next<wire::Event>();
              broker_.Next<wire::Event>();
              Terminate();
              broker_.Next<wire::Drain>();
              Terminate();
              for (int i = 0; i < 2; ++i) {
                const auto final = broker_.Next<wire::Final>();
                EXPECT_EQ(final->code, Code::kLost);
                EXPECT_TRUE(final->started);
              }
              broker_.Next<wire::Bye>();
            }),
            130);
}

TEST_F(WorkerTest, LeavesWhenTheBrokerRefusesIt) {
  EXPECT_EQ(Serve([&] {
              broker_.Next<wire::Hello>();
              broker_.Send(wire::Refuse{"no such version"});
            }),
            1);
}

TEST_F(WorkerTest, LeavesABrokerThatWantsToSpeakAVersionThatItDoesNotKnow) {
  EXPECT_EQ(Serve([&] {
              broker_.Next<wire::Hello>();
              wire::Welcome welcome;
              welcome.version = wire::kVersion + 1;
              broker_.Send(welcome);
            }),
            1);
}

TEST_F(WorkerTest, AnOlderBrokerWithoutAnyCapabilityGetsFinalsAndNothingThatItDoesNotKnow) {
  broker_.capabilities = {};
  Serve([&] {
    broker_.Greet();
    broker_.Dispatch(1, "ok 1", {{"memoryMb", 64}});
    const auto final = broker_.Next<wire::Final>();
    ASSERT_TRUE(final);
    EXPECT_TRUE(final->ok);
    Leave();
  });
}

TEST_F(WorkerTest, LeavesWhenItsFirstCellDoesNotStart) {
  plan_.starts = false;
  EXPECT_EQ(Serve([] {}), 1);
}

TEST_F(WorkerTest, GreetsABrokerThatComesBackAndDeliversItsFinal) {
  Serve([&] {
    broker_.Greet(100);
    broker_.Dispatch(1, "event up\nsleep 300\nok 1");
    broker_.Next<wire::Event>();
    broker_.answers_pings = false;
    // Longer than the worker's patience: it opens its connection anew.
    std::this_thread::sleep_for(Millis(200));
    broker_.Restart();
    const auto hello = broker_.Next<wire::Hello>(Millis(12'000));
    ASSERT_TRUE(hello);
    EXPECT_EQ(hello->session, SessionId("w1"));
    EXPECT_EQ(hello->leases, (std::vector<LeaseId>{LeaseId(1)})) << "ended, and nobody has read its final";
    broker_.answers_pings = true;
    wire::Welcome welcome;
    welcome.resumed = true;
    broker_.Send(welcome);
    EXPECT_EQ(broker_.Next<wire::Final>()->lease, LeaseId(1));
    broker_.Dispatch(2, "ok 2");
    EXPECT_EQ(broker_.Next<wire::Final>()->lease, LeaseId(2));
    Leave();
  });
}

TEST_F(WorkerTest, GreetsAnewAtOnceAfterABrokersGoodbyeAndKeepsItsJobs) {
  Serve([&] {
    broker_.Greet();
    broker_.Dispatch(1, "event up\nsleep 200\nok 1");
    broker_.Next<wire::Event>();
    broker_.Send(wire::Bye{});
    const auto hello = broker_.Greet(1'000, FakeBroker::Memory::kResumed);
    ASSERT_TRUE(hello);
    EXPECT_EQ(hello->session, SessionId("w1"));
    EXPECT_EQ(hello->leases, (std::vector<LeaseId>{LeaseId(1)}));
    EXPECT_EQ(broker_.Next<wire::Final>()->lease, LeaseId(1));
    Leave();
  });
}

TEST_F(WorkerTest, EndsWithoutAWordWhatABrokerThatForgotItHasGivenAway) {
  Serve([&] {
    broker_.Greet();
    broker_.Dispatch(1, "event up\nspin");
    broker_.Dispatch(2, "event up\nsleep 100000\nok 2");
    broker_.Next<wire::Event>();
    broker_.Next<wire::Event>();
    broker_.Send(wire::Bye{});
    const auto hello = broker_.Greet();  // kForgotten
    ASSERT_TRUE(hello);
    EXPECT_EQ(hello->leases.size(), 2u);
    // Both slots are promised anew at once: they are free as soon as the old jobs are reaped.
    broker_.Dispatch(3, "ok 3");
    broker_.Dispatch(4, "ok 4");
    for (int i = 0; i < 2; ++i) {
      const auto final = broker_.Next<wire::Final>();
      ASSERT_TRUE(final);
      EXPECT_TRUE(final->lease == LeaseId(3) || final->lease == LeaseId(4)) << final->lease.value();
      EXPECT_TRUE(final->ok);
    }
    Leave();
  });
}

TEST_F(WorkerTest, EndsWhatItRunsOnceItsBrokerHasBeenSilentForItsLease) {
  Serve([&] {
    broker_.lease_ms = 200;
    broker_.Greet(50);
    broker_.Dispatch(1, "event up\nspin");
    broker_.Next<wire::Event>();
    broker_.answers_pings = false;
    const auto final = broker_.Next<wire::Final>();
    ASSERT_TRUE(final) << "its broker may have given the job to another";
    EXPECT_EQ(final->lease, LeaseId(1));
    EXPECT_EQ(final->code, Code::kLost);
    broker_.answers_pings = true;
    broker_.Dispatch(2, "ok 2");
    EXPECT_TRUE(broker_.Next<wire::Final>()->ok) << "what comes later is another matter";
    Leave();
  });
}

TEST_F(WorkerTest, SendsAgainWhatNoPongHasConfirmedUnderTheSameNumbers) {
  Serve([&] {
    broker_.answers_pings = false;
    broker_.Greet();
    broker_.Dispatch(1, "event e\nok 1");
    const auto event = broker_.Next<wire::Event>();
    const auto final = broker_.Next<wire::Final>();
    ASSERT_TRUE(event && final);
    EXPECT_EQ(event->seq, 1u);
    EXPECT_EQ(final->seq, 2u);
    broker_.answers_pings = true;
    broker_.Send(wire::Bye{});
    ASSERT_TRUE(broker_.Next<wire::Hello>());
    wire::Welcome welcome;
    welcome.resumed = true;
    broker_.Send(welcome);
    const auto again = broker_.Next<wire::Final>();
    ASSERT_TRUE(again);
    EXPECT_EQ(again->seq, 2u);
    EXPECT_EQ(again->lease, LeaseId(1));
    Leave();
  });
}

TEST_F(WorkerTest, TakesBackItsCreditWhileNoCellCanBeStartedAndGivesItAgain) {
  Serve([&] {
    broker_.Greet();
    plan_.starts = false;
    plan_.fork = FakeCellPlan::Fork::kKillsCell;
    broker_.Dispatch(1, "ok 1");
    EXPECT_TRUE(broker_.Next<wire::Final>()->ok) << "the spare that was there";
    EXPECT_EQ(broker_.Next<wire::Credit>()->slots, 0u);
    plan_.fork = FakeCellPlan::Fork::kGood;
    plan_.starts = true;
    EXPECT_EQ(broker_.Next<wire::Credit>()->slots, 2u);
    Leave();
  });
}

TEST_F(WorkerTest, SurvivesWhatIsNotTheProtocol) {
  Serve([&] {
    broker_.Greet();
    broker_.Send(wire::Drain{});
    broker_.Send(wire::Submit{}, {"a", "b"});
    broker_.Send(wire::Answer{}, {});
    broker_.Send(wire::Dispatch{}, {"only code"});
    EXPECT_EQ(broker_.Next<wire::Final>()->code, Code::kValidation);
    broker_.Dispatch(1, "ok 1");
    EXPECT_TRUE(broker_.Next<wire::Final>()->ok);
    Leave();
  });
}

TEST_F(WorkerTest, AsksForCodeThatWasLeftOutAndKeepsIt) {
  options_.kept_mb = 64;
  options_.shelf = LibraryShelf(std::vector<cell::Library>{{"a", "1"}, {"b", "2"}});
  const std::string code = "attempt";
  wire::Dispatch dispatch;
  dispatch.job.id = JobId("j");
  dispatch.job.program = true;
  dispatch.job.code_hash = Sha256(code);
  dispatch.job.limits = {{"memoryMb", 64}};
  Serve([&] {
    const auto hello = broker_.Greet();
    ASSERT_TRUE(hello);
    EXPECT_EQ(hello->libraries, (std::vector<std::string>{"a", "b"}));
    dispatch.lease = LeaseId(1);
    broker_.Send(dispatch, {"", ""});
    const auto need = broker_.Next<wire::Need>();
    ASSERT_TRUE(need);
    EXPECT_EQ(need->lease, LeaseId(1));
    EXPECT_TRUE(need->id.empty());
    dispatch.attempt = 3;
    broker_.Send(dispatch, {code, ""});
    EXPECT_TRUE(broker_.Next<wire::Final>()->ok);
    EXPECT_EQ(broker_.payloads.at(0), "3");
    dispatch.lease = LeaseId(2);
    dispatch.attempt = 4;
    broker_.Send(dispatch, {"", ""});
    EXPECT_TRUE(broker_.Next<wire::Final>()->ok) << "it has the code";
    EXPECT_EQ(broker_.payloads.at(0), "4");
    // Of nothing: that is all there is.
    dispatch.lease = LeaseId(3);
    dispatch.job.code_hash = Sha256("");
    broker_.Send(dispatch, {"", ""});
    EXPECT_EQ(broker_.Next<wire::Final>()->code, Code::kCrash);
    // Not a program: its code is what came.
    dispatch.lease = LeaseId(4);
    dispatch.job.program = false;
    dispatch.job.code_hash = Sha256("unknown");
    broker_.Send(dispatch, {"", ""});
    EXPECT_EQ(broker_.Next<wire::Final>()->lease, LeaseId(4));
    Leave();
  });
}

TEST_F(WorkerTest, WhatItAskedTheCodeOfIsNoLeaseOfItsOwn) {
  wire::Dispatch dispatch;
  dispatch.job.id = JobId("j");
  dispatch.job.program = true;
  dispatch.job.code_hash = Sha256("ok 1");
  Serve([&] {
    broker_.Greet();
    dispatch.lease = LeaseId(1);
    broker_.Send(dispatch, {"", ""});
    ASSERT_TRUE(broker_.Next<wire::Need>());
    broker_.Send(wire::Cancel{JobId(), LeaseId(1)});
    broker_.Send(wire::Bye{});
    const auto hello = broker_.Greet(1'000, FakeBroker::Memory::kResumed);
    ASSERT_TRUE(hello);
    EXPECT_TRUE(hello->leases.empty());
    broker_.Send(dispatch, {"ok 1", ""});
    const auto final = broker_.Next<wire::Final>();
    EXPECT_TRUE(final->ok) << "it is as if it had never come";
    EXPECT_EQ(final->lease, LeaseId(1));
    Leave();
  });
}

TEST_F(WorkerTest, RefusesALibraryThatItHasNot) {
  options_.shelf = LibraryShelf(std::vector<cell::Library>{{"a", "1"}});
  Serve([&] {
    broker_.Greet();
    wire::Dispatch dispatch;
    dispatch.lease = LeaseId(1);
    dispatch.job.libraries = {"a", "b"};
    broker_.Send(dispatch, {"ok 1", ""});
    const auto final = broker_.Next<wire::Final>();
    EXPECT_EQ(final->code, Code::kValidation);
    EXPECT_EQ(wire::ToOutcome(*final, broker_.payloads.at(0)).error->message,
              "library 'b' is not known to this worker");
    Leave();
  });
}

TEST_F(WorkerTest, ABrokerThatForgotItsWorkerEndsJobsThatWaitForTheirProgram) {
  options_.kept_mb = 64;
  plan_.program = FakeCellPlan::Derived::kHangs;
  Serve([&] {
    broker_.Greet();
    wire::Dispatch dispatch;
    dispatch.job.id = JobId("j");
    dispatch.job.program = true;
    dispatch.job.code_hash = Sha256("ok 1");
    dispatch.lease = LeaseId(1);
    broker_.Send(dispatch, {"ok 1", ""});
    while (plan_.derived_alive == 0) std::this_thread::yield();
    broker_.Send(wire::Bye{});
    const auto hello = broker_.Greet();
    ASSERT_TRUE(hello);
    EXPECT_EQ(hello->leases, std::vector<LeaseId>{LeaseId(1)});
    while (plan_.derived_alive != 0) std::this_thread::yield();
    broker_.Dispatch(2, "ok 2");
    EXPECT_EQ(broker_.Next<wire::Final>()->lease, LeaseId(2)) << "and nothing is said of the first";
    Leave();
  });
}

TEST_F(WorkerTest, LeavesNoProcessBehind) {
  Serve([&] {
    broker_.Greet();
    broker_.Dispatch(1, "signal 11");
    broker_.Next<wire::Final>();
    Leave();
  });
  siginfo_t info{};
  EXPECT_EQ(::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT), -1) << "a child, running or unreaped";
}

using TimingTest = WorkerTest;

TEST_F(TimingTest, ReportsAKilledJobWithinFiftyMillisecondsOfItsTimeout) {
  constexpr int kRuns = 50;
  constexpr double kTimeoutMs = 40;
  std::vector<double> late;
  Serve([&] {
    broker_.Greet();
    for (std::uint64_t lease = 1; lease <= kRuns; ++lease) {
      const TimePoint sent = SteadyClock::now();
      broker_.Dispatch(lease, "event before\nspin", {{"timeoutMs", 40}, {"memoryMb", 64}});
      EXPECT_TRUE(broker_.Next<wire::Event>());
      EXPECT_EQ(broker_.Next<wire::Final>()->code, Code::kTimeout);
      late.push_back(MillisBetween(sent, SteadyClock::now()) - kTimeoutMs);
    }
    Leave();
  });
  std::sort(late.begin(), late.end());
  const double p95 = late[kRuns * 95 / 100];
  RecordProperty("p95_late_us", static_cast<int>(p95 * 1000));
  EXPECT_LT(p95, 50);
  EXPECT_GE(late.front(), 0);
}

}  // namespace
}  // namespace skerry::agent
