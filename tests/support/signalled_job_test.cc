#include "tests/support/signalled_job.h"

#include <signal.h>

namespace skerry::testing {
namespace {

constexpr double kTimeoutMs = 100;

SignalledRun Got(std::vector<int> signals, std::uint32_t attempt = 1) {
  return {{.attempt = attempt, .pid = 7, .started = true}, std::move(signals)};
}

SignalledJob Of(std::vector<SignalledRun> runs, const std::string& retry = "safe", bool calls = false) {
  return {retry, calls, 5, kTimeoutMs, 50, std::move(runs)};
}

JobResult Result(const std::string& line) {
  return JobResult(ParseJson(line).value_or(Json()), line);
}
JobResult Ok(int attempt = 1) {
  return Result(R"({"outcome":"ok","value":5,"error":null,"attempt":)" + std::to_string(attempt) + "}");
}
JobResult Failed(const std::string& code, const std::string& fault, const std::string& message = "",
                 double wall = 0, bool started = true) {
  const Json error = {
      {"code", code}, {"fault", fault}, {"message", message}, {"started", started}, {"limit", "timeoutMs"}};
  const Json line = {{"outcome", "error"}, {"error", error}, {"usage", {{"wallMs", wall}}}};
  return Result(line.dump());
}

TEST(SignalledJob, OneThatWasLeftAloneMustBeOkAtOnce) {
  EXPECT_TRUE(IsTruthful(Ok(), Of({Got({})})));
  EXPECT_FALSE(IsTruthful(Failed("LOST", "infrastructure"), Of({Got({})}, "never")));
  EXPECT_FALSE(IsTruthful(Failed("CRASH", "program", "SIGSEGV"), Of({Got({})}, "never")));
  EXPECT_FALSE(IsTruthful(Failed("TIMEOUT", "limit", "", kTimeoutMs), Of({Got({})})));
  EXPECT_FALSE(IsTruthful(Ok(2), Of({Got({}), Got({}, 2)}))) << "nothing killed the first run";
  EXPECT_FALSE(IsTruthful(Failed("LOST", "infrastructure", "", 0, false), Of({})));
}

TEST(SignalledJob, ADeadlySignalIsRunAgainOrNamed) {
  EXPECT_TRUE(IsTruthful(Ok(2), Of({Got({SIGSEGV}), Got({}, 2)})));
  EXPECT_FALSE(IsTruthful(Ok(1), Of({Got({SIGSEGV}), Got({}, 2)}))) << "not the last attempt's";
  EXPECT_FALSE(IsTruthful(Ok(2), Of({Got({SIGSEGV}), Got({}, 2)}, "never")));
  EXPECT_TRUE(IsTruthful(Failed("CRASH", "program", "SIGSEGV"), Of({Got({SIGSEGV})}, "never")));
  EXPECT_FALSE(IsTruthful(Failed("CRASH", "program", "SIGABRT"), Of({Got({SIGSEGV})}, "never")));
  EXPECT_FALSE(IsTruthful(Failed("CRASH", "program", "SIGSEGV"), Of({Got({SIGSEGV})}, "safe")))
      << "it should have been run again";
  EXPECT_TRUE(IsTruthful(Failed("CRASH", "program", "SIGSEGV"), Of({Got({SIGSEGV})}, "safe", true)));
  EXPECT_TRUE(IsTruthful(Failed("LOST", "infrastructure"), Of({Got({SIGKILL})}, "never")));
  EXPECT_FALSE(IsTruthful(Failed("LOST", "infrastructure"), Of({Got({SIGSEGV})}, "never")));
  EXPECT_FALSE(IsTruthful(Failed("CRASH", "program", "SIGSEGV", 0, false), Of({Got({SIGSEGV})}, "never")))
      << "it had started";
}

TEST(SignalledJob, AStoppedOneTimesOutOnTime) {
  const auto timeout = [](double wall) { return Failed("TIMEOUT", "limit", "", wall); };
  EXPECT_TRUE(IsTruthful(timeout(kTimeoutMs), Of({Got({SIGSTOP})})));
  EXPECT_TRUE(IsTruthful(timeout(kTimeoutMs + 50), Of({Got({SIGSTOP})})));
  EXPECT_FALSE(IsTruthful(timeout(kTimeoutMs + 51), Of({Got({SIGSTOP})})));
  EXPECT_FALSE(IsTruthful(timeout(kTimeoutMs - 1), Of({Got({SIGSTOP})})));
  EXPECT_TRUE(IsTruthful(Ok(), Of({Got({SIGSTOP, SIGCONT})})));
  EXPECT_FALSE(IsTruthful(timeout(kTimeoutMs), Of({Got({SIGCONT})})));
}

TEST(SignalledJob, ASignalBelongsToTheRunThatHadThePidThen) {
  const auto now = std::chrono::system_clock::now();
  const std::vector<ObservedRun> runs = {{.pid = 7, .when = now}, {.pid = 8, .when = now}};
  const auto with = WithSignals(runs, {{7, SIGSEGV, now + std::chrono::seconds(1)},
                                       {7, SIGABRT, now + std::chrono::minutes(5)},
                                       {9, SIGSYS, now}});
  EXPECT_EQ(with[0].signals, std::vector<int>{SIGSEGV});
  EXPECT_TRUE(with[1].signals.empty());
}

TEST(SignalledJob, RunsOfTwoWorkersAreJudgedInTheOrderInWhichTheyCame) {
  const auto now = std::chrono::system_clock::now();
  const auto with = WithSignals(
      {{.attempt = 2, .pid = 8, .when = now}, {.pid = 7, .when = now - std::chrono::seconds(1)}}, {});
  EXPECT_EQ(with[0].run.pid, 7);
  EXPECT_EQ(with[1].run.pid, 8);
}

}  // namespace
}  // namespace skerry::testing
