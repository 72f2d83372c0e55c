#include "worker/agent/jobs/verdict.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "worker/agent/testing/verdict_inputs.h"

namespace skerry::agent {
namespace {

Limits CpuLimited() {
  Limits limits;
  limits.Set(LimitId::kCpuMs, 100);
  return limits;
}

Verdict Started() {
  Verdict verdict(CpuLimited(), 1);
  verdict.JobSent();
  return verdict;
}

RerunPolicy Allowed() {
  return {};
}

TEST(Verdict, TellsTheFirstCauseFromTheLaterOnes) {
  Verdict verdict = Started();
  EXPECT_TRUE(verdict.Record(Cause::kWallClock));
  EXPECT_FALSE(verdict.Record(Cause::kCancelled));
  EXPECT_FALSE(verdict.FinalRecord(OkFinal(), "1"));
  EXPECT_EQ(verdict.cause(), Cause::kWallClock);
}

TEST(Verdict, NamesEverySignalOfACrashAndRunsItOnceMore) {
  const std::vector<std::pair<int, std::string>> signals = {
      {SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"},   {SIGILL, "SIGILL"}, {SIGTRAP, "SIGTRAP"},
      {SIGFPE, "SIGFPE"},   {SIGABRT, "SIGABRT"}, {SIGSYS, "SIGSYS"}};
  for (const auto& [signal, name] : signals) {
    Verdict verdict = Started();
    verdict.Exited(Signal(signal), MemoryEvidence::kNo);
    const Decision decision = verdict.Decide(Allowed());
    EXPECT_EQ(Text(decision), "CRASH:");
    EXPECT_NE(decision.outcome.error->message.find(name), std::string::npos)
        << decision.outcome.error->message;
    EXPECT_EQ(decision.outcome.error->fault, Fault::kProgram);
    EXPECT_EQ(decision.rerun, Rerun::kAsNextAttempt);
  }
}

TEST(Verdict, RetiresTheCellOnlyAfterSignalsThatCanProbeItsLayout) {
  for (const int signal : {SIGSEGV, SIGILL, SIGTRAP, SIGSYS, SIGBUS, SIGFPE, SIGABRT, SIGKILL}) {
    Verdict verdict = Started();
    verdict.Exited(Signal(signal), MemoryEvidence::kNo);
    const bool probes = signal == SIGSEGV || signal == SIGILL || signal == SIGTRAP || signal == SIGSYS;
    EXPECT_EQ(verdict.Decide(Allowed()).retire_cell, probes) << "signal " << signal;
  }
}

TEST(Verdict, CallsADeathBySignalNearTheMemoryBoundOutOfMemory) {
  for (const int signal : {SIGKILL, SIGABRT, SIGTRAP, SIGILL, SIGSEGV, SIGBUS}) {
    Verdict verdict = Started();
    verdict.Exited(Signal(signal), MemoryEvidence::kYes);
    const Decision decision = verdict.Decide(Allowed());
    EXPECT_EQ(Text(decision), "OOM:memoryMb") << "signal " << signal;
    EXPECT_EQ(decision.rerun, Rerun::kNo);
  }
  for (const int signal : {SIGSYS, SIGFPE}) {
    Verdict verdict = Started();
    verdict.Exited(Signal(signal), MemoryEvidence::kYes);
    EXPECT_EQ(Text(verdict.Decide(Allowed())), "CRASH:") << "signal " << signal;
  }
}

TEST(Verdict, CallsASigkillThatNobodyExplainsLost) {
  Verdict verdict = Started();
  verdict.Exited(Signal(SIGKILL), MemoryEvidence::kNo);
  const Decision decision = verdict.Decide(Allowed());
  EXPECT_EQ(Text(decision), "LOST:");
  EXPECT_EQ(decision.outcome.error->fault, Fault::kInfrastructure);
  EXPECT_EQ(decision.rerun, Rerun::kAsNextAttempt);
}

TEST(Verdict, BlamesNoProgramForASignalThatNoFaultOfItsOwnCanHaveSent) {
  const std::vector<int> crashes = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGABRT, SIGSYS};
  for (int signal = 1; signal <= SIGRTMAX; ++signal) {
    Verdict verdict(Limits(), 1);
    verdict.JobSent();
    verdict.Exited(Signal(signal), MemoryEvidence::kNo);
    const bool crash = std::find(crashes.begin(), crashes.end(), signal) != crashes.end();
    const Decision decision = verdict.Decide(Allowed());
    EXPECT_EQ(decision.outcome.error->code, crash ? Code::kCrash : Code::kLost) << signal;
    EXPECT_EQ(decision.outcome.error->fault, crash ? Fault::kProgram : Fault::kInfrastructure) << signal;
  }
}

TEST(Verdict, CallsADeathByTheOomKillerWithinTheBudgetOutOfMemoryAndNamesNoLimit) {
  Verdict verdict = Started();
  verdict.Exited(Signal(SIGKILL), MemoryEvidence::kOomKiller);
  const Decision decision = verdict.Decide(Allowed());
  EXPECT_EQ(Text(decision), "OOM:");
  EXPECT_EQ(decision.outcome.error->fault, Fault::kInfrastructure);
  EXPECT_TRUE(decision.outcome.error->retryable);
  EXPECT_NE(decision.outcome.error->message.find("the machine or its control group ran out of memory"),
            std::string::npos)
      << decision.outcome.error->message;
  EXPECT_FALSE(decision.retire_cell);
}

TEST(Verdict, CallsAnExitWithoutAFinalACrashAndDoesNotRunItAgain) {
  for (const int code : {0, 3}) {
    Verdict verdict = Started();
    verdict.Exited(Exit(code), MemoryEvidence::kYes);
    const Decision decision = verdict.Decide(Allowed());
    EXPECT_EQ(Text(decision), "CRASH:");
    EXPECT_EQ(decision.rerun, Rerun::kNo);
  }
}

TEST(Verdict, RunsACrashAgainOnlyAsTheJobAllows) {
  struct Row {
    Retry retry;
    bool called;
    bool may;
    Rerun expected;
  };
  const Row rows[] = {
      {Retry::kSafe, false, true, Rerun::kAsNextAttempt},
      {Retry::kSafe, true, true, Rerun::kNo},
      {Retry::kNever, false, true, Rerun::kNo},
      {Retry::kNever, true, true, Rerun::kNo},
      {Retry::kAlways, false, true, Rerun::kAsNextAttempt},
      {Retry::kAlways, true, true, Rerun::kAsNextAttempt},
      {Retry::kSafe, false, false, Rerun::kNo},
      {Retry::kAlways, true, false, Rerun::kNo},
  };
  for (const Row& row : rows) {
    const std::pair<int, MemoryEvidence> deaths[] = {{SIGSEGV, MemoryEvidence::kNo},
                                                     {SIGKILL, MemoryEvidence::kNo},
                                                     {SIGKILL, MemoryEvidence::kOomKiller}};
    for (const auto& [signal, evidence] : deaths) {
      Verdict verdict = Started();
      verdict.Exited(Signal(signal), evidence);
      RerunPolicy policy;
      policy.retry = row.retry;
      policy.made_host_call = row.called;
      policy.may_run_again = row.may;
      EXPECT_EQ(verdict.Decide(policy).rerun, row.expected);
    }
  }
}

TEST(Verdict, BlamesTheInfrastructureForWhateverHappensBeforeTheJobIsSent) {
  const std::vector<std::function<void(Verdict&)>> failures = {
      [](Verdict& v) { v.Record(Cause::kHandOver, "its process did not take it"); },
      [](Verdict& v) { v.Record(Cause::kProtocolBroken, "noise"); },
      [](Verdict& v) { v.FinalRecord(OkFinal(), "1"); },
      [](Verdict&) {},
  };
  for (const auto& fail : failures) {
    for (const ExitStatus& exit : {Exit(120), Signal(SIGSEGV), Signal(SIGKILL)}) {
      Verdict verdict(Limits(), 1);
      fail(verdict);
      verdict.Exited(exit, MemoryEvidence::kYes);
      RerunPolicy policy;
      policy.retry = Retry::kNever;  // no program has run, so it is no re-run
      const Decision again = verdict.Decide(policy);
      EXPECT_EQ(again.rerun, Rerun::kAsSameAttempt);
      policy.may_hand_over_again = false;
      const Decision lost = verdict.Decide(policy);
      EXPECT_EQ(Text(lost), "LOST:");
      EXPECT_EQ(lost.rerun, Rerun::kNo);
      EXPECT_FALSE(lost.outcome.error->started);
    }
  }
}

TEST(Verdict, SaysThatAJobCancelledBeforeItWasSentHasNotStarted) {
  Verdict verdict(Limits(), 1);
  verdict.Record(Cause::kCancelled);
  verdict.Exited(Signal(SIGKILL), MemoryEvidence::kNo);
  const Decision decision = verdict.Decide(Allowed());
  EXPECT_EQ(Text(decision), "CANCELLED:");
  EXPECT_FALSE(decision.outcome.error->started);
  EXPECT_EQ(decision.rerun, Rerun::kNo);
}

TEST(Verdict, QuotesNothingUnprintableOfAnIsolate) {
  Verdict verdict = Started();
  verdict.Record(Cause::kProtocolBroken, "type '\x01\xff\n'");
  verdict.Exited(Signal(SIGKILL), MemoryEvidence::kNo);
  EXPECT_NE(verdict.Decide(Allowed()).outcome.error->message.find("type '\?\?\?'"), std::string::npos);
}

TEST(JudgeMemory, NeedsNineTenthsOfTheBudgetOverTheBaselineAndFilePages) {
  const Bytes base = Bytes::MiB(40);
  EXPECT_EQ(JudgeMemory(Bytes::MiB(40 + 90 + 8), base, 100), MemoryEvidence::kYes);
  EXPECT_EQ(JudgeMemory(Bytes::MiB(40 + 90 + 8) - Bytes(1), base, 100), MemoryEvidence::kNo);
  EXPECT_EQ(JudgeMemory(Bytes::MiB(10), base, 100), MemoryEvidence::kNo);
}

TEST(Verdict, RunsWhatEndedWhereOthersHadRunOnceMoreOrBlamesNobodyForIt) {
  struct Case {
    std::function<void(Verdict&)> end;
    const char* own;        // in an isolate of its own
    const char* not_again;  // where others had run, and it may not run again
  };
  const auto dies = [](int signal, MemoryEvidence evidence = MemoryEvidence::kNo) {
    return [=](Verdict& verdict) {
      ExitStatus status;
      status.signal = signal;
      verdict.Exited(status, evidence);
    };
  };
  const auto killed = [&](Cause cause) {
    return [=](Verdict& verdict) {
      verdict.Record(cause, "why");
      dies(SIGKILL)(verdict);
    };
  };
  for (const Case& one :
       std::vector<Case>{{dies(SIGSEGV), "CRASH:", "LOST:"},
                         {dies(SIGABRT, MemoryEvidence::kYes), "OOM:memoryMb", "LOST:"},
                         {dies(0), "CRASH:", "LOST:"},
                         {dies(SIGKILL), "LOST:", "LOST:"},
                         {dies(SIGKILL, MemoryEvidence::kOomKiller), "OOM:", "OOM:"},
                         {killed(Cause::kMemory), "OOM:memoryMb", "LOST:"},
                         {killed(Cause::kCpuClock), "TIMEOUT:cpuMs", "LOST:"},
                         {killed(Cause::kWallClock), "TIMEOUT:timeoutMs", "TIMEOUT:timeoutMs"},
                         {killed(Cause::kProtocolBroken), "CRASH:", "LOST:"},
                         {killed(Cause::kForbiddenCall), "CRASH:", "LOST:"}}) {
    Verdict verdict = Started();
    one.end(verdict);
    RerunPolicy policy = Allowed();
    policy.used_isolate = true;
    const Decision again = verdict.Decide(policy);
    EXPECT_EQ(again.rerun, Rerun::kAsNextAttempt) << one.own;
    for (const auto& forbid : std::vector<std::function<void()>>{[&] { policy.retry = Retry::kNever; },
                                                                 [&] { policy.made_host_call = true; },
                                                                 [&] { policy.may_run_again = false; }}) {
      policy = Allowed();
      policy.used_isolate = true;
      forbid();
      const Decision last = verdict.Decide(policy);
      EXPECT_EQ(last.rerun, Rerun::kNo) << one.own;
      EXPECT_EQ(Text(last), one.not_again) << one.own;
      EXPECT_EQ(last.crashed, std::string(one.own) == "CRASH:") << one.own;
      policy.used_isolate = false;
      EXPECT_EQ(Text(verdict.Decide(policy)), one.own);
    }
  }
}

TEST(Verdict, WhatAClientOrAnOperatorEndedIsNotRunAgainWhereverItRan) {
  for (const Cause cause : {Cause::kCancelled, Cause::kAborted}) {
    Verdict verdict = Started();
    verdict.Record(cause);
    verdict.Exited({}, MemoryEvidence::kNo);
    RerunPolicy policy = Allowed();
    policy.used_isolate = true;
    EXPECT_EQ(verdict.Decide(policy).rerun, Rerun::kNo);
  }
}

}  // namespace
}  // namespace skerry::agent
