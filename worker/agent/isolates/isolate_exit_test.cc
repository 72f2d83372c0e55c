#include "worker/agent/isolates/isolate_exit.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <set>
#include <utility>

namespace skerry::agent {
namespace {

ExitStatus Died(int signal) {
  ExitStatus status;
  status.signal = signal;
  return status;
}

TEST(IsolateExitOf, AKilledIsolateCountsForWhatItWasKilledFor) {
  std::set<IsolateExit> seen;
  for (int i = 0; i < kCauseCount; ++i) {
    Verdict verdict(Limits(), 1);
    verdict.Record(static_cast<Cause>(i));
    seen.insert(ExitOf(verdict, Died(SIGKILL)));
  }
  EXPECT_EQ(seen, (std::set<IsolateExit>{IsolateExit::kSys, IsolateExit::kKilledTimeout,
                                         IsolateExit::kKilledCpu, IsolateExit::kKilledMemory,
                                         IsolateExit::kKilledCancelled, IsolateExit::kKilledProtocol,
                                         IsolateExit::kKilledStopped, IsolateExit::kKilledHandOver}));
}

TEST(IsolateExitOf, AnIsolateWithItsFinalHasFinishedHoweverItLeaves) {
  Verdict verdict(Limits(), 1);
  verdict.JobSent();
  wire::Final final;
  final.ok = true;
  ASSERT_TRUE(verdict.FinalRecord(final, "1"));
  EXPECT_EQ(ExitOf(verdict, ExitStatus()), IsolateExit::kFinished);
  EXPECT_EQ(ExitOf(verdict, Died(SIGKILL)), IsolateExit::kFinished);
}

TEST(IsolateExitOf, WithNeitherTheKernelsWordCounts) {
  const Verdict verdict(Limits(), 1);
  const std::pair<int, IsolateExit> table[] = {{0, IsolateExit::kExited},
                                               {SIGSEGV, IsolateExit::kSegv},
                                               {SIGBUS, IsolateExit::kBus},
                                               {SIGILL, IsolateExit::kIll},
                                               {SIGTRAP, IsolateExit::kTrap},
                                               {SIGFPE, IsolateExit::kFpe},
                                               {SIGABRT, IsolateExit::kAbrt},
                                               {SIGSYS, IsolateExit::kSys},
                                               {SIGKILL, IsolateExit::kForeignKill},
                                               {SIGTERM, IsolateExit::kOtherSignal}};
  for (const auto& [signal, exit] : table) EXPECT_EQ(ExitOf(verdict, Died(signal)), exit) << signal;
}

TEST(IsolateExitOf, ASigkillForWantOfMemoryIsTheOomKillers) {
  const std::pair<MemoryEvidence, IsolateExit> table[] = {
      {MemoryEvidence::kNo, IsolateExit::kForeignKill},
      {MemoryEvidence::kYes, IsolateExit::kOomKill},
      {MemoryEvidence::kOomKiller, IsolateExit::kOomKill}};
  for (const auto& [evidence, exit] : table) {
    Verdict verdict(Limits(), 1);
    verdict.Exited(Died(SIGKILL), evidence);
    EXPECT_EQ(ExitOf(verdict, Died(SIGKILL)), exit);
  }
}

}  // namespace
}  // namespace skerry::agent
