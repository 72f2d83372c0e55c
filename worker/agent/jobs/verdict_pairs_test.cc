// Every way a run can end, followed by every other: the first one is the verdict, and it blames whom it
// should.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <vector>

#include "worker/agent/jobs/verdict.h"
#include "worker/agent/testing/verdict_inputs.h"

namespace skerry::agent {
namespace {

// What can end a run, and the end that it is when nothing came before it. The policy allows everything.
struct Ending {
  std::string name;
  std::optional<Cause> cause;  // none: a final, or a death that nobody here caused
  std::function<void(Verdict&)> apply;
  std::string expected;
  Fault fault;  // of an error
  Rerun rerun = Rerun::kNo;
};

Ending Recorded(Cause cause, std::string expected, Fault fault, Rerun rerun = Rerun::kNo) {
  return {std::string(NameOf(cause)), cause, [cause](Verdict& v) { v.Record(cause, "why"); },
          std::move(expected),        fault, rerun};
}

Ending ErrorFinalOf(Code code, const std::string& limit, std::string expected, Fault fault) {
  return {std::string(NameOf(code)) + " final", std::nullopt,
          [code, limit](Verdict& v) { v.FinalRecord(ErrorFinal(code, limit), Detail(code)); },
          std::move(expected), fault};
}

std::string Told(MemoryEvidence evidence) {
  switch (evidence) {
    case MemoryEvidence::kNo:
      return " with memory to spare";
    case MemoryEvidence::kYes:
      return " short of memory";
    case MemoryEvidence::kOomKiller:
      return " by the OOM killer";
  }
  return {};
}

Ending Death(const ExitStatus& status, MemoryEvidence evidence, std::string expected, Fault fault,
             Rerun rerun = Rerun::kNo) {
  const std::string how = status.signal == 0 ? "exit" : "signal " + std::to_string(status.signal);
  return {how + Told(evidence), std::nullopt, [status, evidence](Verdict& v) { v.Exited(status, evidence); },
          std::move(expected),  fault,        rerun};
}

std::vector<Ending> Causes() {
  return {
      Recorded(Cause::kWallClock, "TIMEOUT:timeoutMs", Fault::kLimit),
      Recorded(Cause::kCpuClock, "TIMEOUT:cpuMs", Fault::kLimit),
      Recorded(Cause::kMemory, "OOM:memoryMb", Fault::kLimit),
      Recorded(Cause::kCancelled, "CANCELLED:", Fault::kClient),
      Recorded(Cause::kProtocolBroken, "CRASH:", Fault::kProgram),
      Recorded(Cause::kAborted, "LOST:", Fault::kInfrastructure),
      Recorded(Cause::kHandOver, "LOST:", Fault::kInfrastructure),
      Recorded(Cause::kForbiddenCall, "CRASH:", Fault::kProgram, Rerun::kAsNextAttempt),
  };
}

std::vector<Ending> Finals() {
  return {
      {"ok final", std::nullopt, [](Verdict& v) { v.FinalRecord(OkFinal(), "1"); }, "ok", Fault::kProgram},
      {"broken final", std::nullopt, [](Verdict& v) { v.FinalRecord(OkFinal(), "{"); },
       "CRASH:", Fault::kProgram},
      ErrorFinalOf(Code::kRuntime, "", "RUNTIME:", Fault::kProgram),
      ErrorFinalOf(Code::kOom, "memoryMb", "OOM:memoryMb", Fault::kLimit),
  };
}

std::vector<Ending> Deaths() {
  using Memory = MemoryEvidence;
  const Rerun again = Rerun::kAsNextAttempt;
  return {
      Death(Exit(0), Memory::kNo, "CRASH:", Fault::kProgram),
      Death(Exit(7), Memory::kYes, "CRASH:", Fault::kProgram),
      Death(Signal(SIGKILL), Memory::kNo, "LOST:", Fault::kInfrastructure, again),
      Death(Signal(SIGKILL), Memory::kYes, "OOM:memoryMb", Fault::kLimit),
      Death(Signal(SIGKILL), Memory::kOomKiller, "OOM:", Fault::kInfrastructure, again),
      Death(Signal(SIGSEGV), Memory::kOomKiller, "CRASH:", Fault::kProgram, again),
      Death(Exit(0), Memory::kOomKiller, "CRASH:", Fault::kProgram),
      Death(Signal(SIGSEGV), Memory::kNo, "CRASH:", Fault::kProgram, again),
      Death(Signal(SIGSEGV), Memory::kYes, "OOM:memoryMb", Fault::kLimit),
      Death(Signal(SIGSYS), Memory::kNo, "CRASH:", Fault::kProgram, again),
      Death(Signal(SIGSYS), Memory::kYes, "CRASH:", Fault::kProgram, again),
  };
}

std::vector<Ending> Endings() {
  std::vector<Ending> all = Causes();
  for (auto& ending : Finals()) all.push_back(std::move(ending));
  for (auto& ending : Deaths()) all.push_back(std::move(ending));
  return all;
}

enum class Sent : bool { kNo, kYes };

Decision Decide(Sent sent, const std::vector<const Ending*>& in_order) {
  Limits limits;
  limits.Set(LimitId::kCpuMs, 100);
  Verdict verdict(limits, 1);
  if (sent == Sent::kYes) verdict.JobSent();
  for (const Ending* ending : in_order) ending->apply(verdict);
  return verdict.Decide({});
}

// Every first ending, then every other, then every death.
void ForEachHistory(const std::function<void(const Ending&, const std::vector<const Ending*>&)>& visit) {
  const auto endings = Endings();
  const auto deaths = Deaths();
  for (const Ending& first : endings) {
    for (const Ending& later : endings) {
      for (const Ending& death : deaths) {
        SCOPED_TRACE(first.name + ", then " + later.name + ", then " + death.name);
        visit(first, {&first, &later, &death});
      }
    }
  }
}

TEST(VerdictPairs, HaveARowForEveryCause) {
  std::set<std::string_view> names;
  for (int i = 0; i < kCauseCount; ++i) {
    const auto cause = static_cast<Cause>(i);
    const auto rows = Causes();
    EXPECT_EQ(std::count_if(rows.begin(), rows.end(), [&](const Ending& e) { return e.cause == cause; }), 1)
        << NameOf(cause);
    names.insert(NameOf(cause));
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(kCauseCount));
  EXPECT_EQ(names.count(""), 0u);
  EXPECT_EQ(NameOf(static_cast<Cause>(kCauseCount)), "") << "kCauseCount counts them all";
}

TEST(VerdictPairs, TheFirstEndStandsAgainstEveryLaterOneAndEveryDeath) {
  ForEachHistory([](const Ending& first, const std::vector<const Ending*>& history) {
    const Decision decision = Decide(Sent::kYes, history);
    EXPECT_EQ(Text(decision), first.expected);
    EXPECT_EQ(decision.rerun, first.rerun);
    if (decision.outcome.ok()) return;
    EXPECT_EQ(decision.outcome.error->fault, first.fault);
    EXPECT_TRUE(decision.outcome.error->started);
  });
}

TEST(VerdictPairs, BeforeTheJobIsSentNothingIsEverTheProgramsFault) {
  ForEachHistory([](const Ending& first, const std::vector<const Ending*>& history) {
    const Decision decision = Decide(Sent::kNo, history);
    const bool cancelled = first.cause == Cause::kCancelled;
    EXPECT_EQ(Text(decision), cancelled ? "CANCELLED:" : "LOST:");
    ASSERT_FALSE(decision.outcome.ok());
    EXPECT_EQ(decision.outcome.error->fault, cancelled ? Fault::kClient : Fault::kInfrastructure);
    EXPECT_FALSE(decision.outcome.error->started);
    const bool told_to_stop = cancelled || first.cause == Cause::kAborted;
    EXPECT_EQ(decision.rerun, told_to_stop ? Rerun::kNo : Rerun::kAsSameAttempt);
  });
}

TEST(VerdictPairs, AnyOneEndDecides) {
  for (const Ending& ending : Endings()) {
    Verdict verdict(Limits(), 1);
    verdict.JobSent();
    EXPECT_FALSE(verdict.decided());
    ending.apply(verdict);
    EXPECT_TRUE(verdict.decided()) << ending.name;
    EXPECT_FALSE(verdict.Record(Cause::kMemory)) << ending.name;
    EXPECT_FALSE(verdict.FinalRecord(OkFinal(), "1")) << ending.name;
  }
}

}  // namespace
}  // namespace skerry::agent
