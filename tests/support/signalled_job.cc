#include "tests/support/signalled_job.h"

#include <signal.h>

#include <algorithm>
#include <sstream>

namespace skerry::testing {
namespace {

using ::testing::AssertionFailure;
using ::testing::AssertionResult;
using ::testing::AssertionSuccess;

// A spare may wait for its job, and a run lasts as long as its timeout.
constexpr std::chrono::seconds kLongestLife{60};

constexpr std::pair<int, const char*> kCrashes[] = {
    {SIGSEGV, "SIGSEGV"}, {SIGABRT, "SIGABRT"}, {SIGSYS, "SIGSYS"}};

/// Nothing was left to try: `retry` forbids it, a host call was made, or the second run died as well.
bool MayEndInADeath(const SignalledJob& job) {
  return job.retry == "never" || (job.retry == "safe" && job.calls) || job.runs.size() >= 2;
}

AssertionResult IsTruthfulCrash(const JobResult& result, const SignalledRun& last) {
  for (const auto& [signal, name] : kCrashes) {
    if (last.Got(signal) && result.message().find(name) != std::string::npos &&
        result.Error("fault") == "program")
      return AssertionSuccess();
  }
  return AssertionFailure() << "a CRASH of no signal that was sent";
}

AssertionResult IsTruthfulTimeout(const JobResult& result, const SignalledJob& job) {
  if (!job.runs.back().Got(SIGSTOP)) return AssertionFailure() << "a TIMEOUT that was not stopped";
  if (result.Error("limit") != "timeoutMs") return AssertionFailure() << "the wrong limit";
  const double wall = result.Usage("wallMs");
  if (wall < job.timeout_ms || wall > job.timeout_ms + job.timeout_slack_ms)
    return AssertionFailure() << "a TIMEOUT that is not on time";
  return AssertionSuccess();
}

AssertionResult IsTruthfulError(const JobResult& result, const SignalledJob& job) {
  const bool started = std::any_of(job.runs.begin(), job.runs.end(),
                                   [](const SignalledRun& run) { return run.run.MayHaveRun(); });
  if (result.Error("started") != started) return AssertionFailure() << "`started` is not true";
  const SignalledRun& last = job.runs.back();
  if (result.code() == "TIMEOUT") return IsTruthfulTimeout(result, job);
  const bool had_no_cell = result.message().find("no cell could fork") != std::string::npos;
  if (!MayEndInADeath(job) && !had_no_cell) return AssertionFailure() << "it should have been run again";
  if (result.code() == "CRASH") return IsTruthfulCrash(result, last);
  if (result.code() != "LOST" || result.Error("fault") != "infrastructure")
    return AssertionFailure() << "no signal ends a job like that";
  if (last.Got(SIGKILL) || (!last.run.started && last.GotADeadlyOne())) return AssertionSuccess();
  // It should have been run again, and its worker had no cell for it any more.
  if (last.GotADeadlyOne() && had_no_cell) return AssertionSuccess();
  return AssertionFailure() << "LOST, and nobody sent a SIGKILL";
}

AssertionResult Judge(const JobResult& result, const SignalledJob& job) {
  if (job.runs.empty()) return AssertionFailure() << "it ended, and no isolate had it";
  for (std::size_t i = 0; i + 1 < job.runs.size(); ++i) {
    if (!job.runs[i].GotADeadlyOne()) return AssertionFailure() << "run again though nothing killed it";
    // Not what failed to be handed over: no program had run.
    if (!job.runs[i].run.started) continue;
    if (job.retry == "never" || (job.retry == "safe" && job.runs[i].run.answered))
      return AssertionFailure() << "run again though its retry forbids it";
  }
  if (!result.ok()) return IsTruthfulError(result, job);
  if (auto right = IsOk(result, job.value); !right) return right;
  if (result.Field("attempt") != job.runs.back().run.attempt)
    return AssertionFailure() << "the value of an attempt that is not the last";
  return AssertionSuccess();
}

}  // namespace

bool SignalledRun::Got(int signal) const {
  return std::find(signals.begin(), signals.end(), signal) != signals.end();
}

bool SignalledRun::GotADeadlyOne() const {
  return std::any_of(signals.begin(), signals.end(),
                     [](int signal) { return signal != SIGSTOP && signal != SIGCONT; });
}

bool SignalledJob::WasSignalled() const {
  return std::any_of(runs.begin(), runs.end(), [](const auto& run) { return !run.signals.empty(); });
}

std::vector<SignalledRun> WithSignals(const std::vector<ObservedRun>& runs,
                                      const std::vector<SentSignal>& sent) {
  std::vector<SignalledRun> signalled;
  std::vector<ObservedRun> in_order = runs;  // they come log by log, of one worker after the other
  std::stable_sort(in_order.begin(), in_order.end(),
                   [](const auto& a, const auto& b) { return a.when < b.when; });
  for (const ObservedRun& run : in_order) {
    SignalledRun& with = signalled.emplace_back(SignalledRun{run, {}});
    for (const SentSignal& one : sent) {
      const auto apart = one.when > run.when ? one.when - run.when : run.when - one.when;
      if (one.pid == run.pid && apart < kLongestLife) with.signals.push_back(one.signal);
    }
  }
  return signalled;
}

AssertionResult IsTruthful(const JobResult& result, const SignalledJob& job) {
  AssertionResult truthful = Judge(result, job);
  if (truthful) return truthful;
  std::ostringstream story;
  for (const SignalledRun& run : job.runs) {
    story << "; attempt " << run.run.attempt << " in " << run.run.pid
          << (run.run.started ? " started" : " not started") << (run.run.answered ? " answered" : "")
          << " got";
    for (const int signal : run.signals) story << " " << signal;
  }
  return truthful << ": retry " << job.retry << ", " << Shown(result) << story.str();
}

}  // namespace skerry::testing
