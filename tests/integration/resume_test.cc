// `skerry run --resume`: what has its final is not run again, what was cut off or lost is.
#include <thread>

#include "tests/support/pool.h"

namespace skerry::testing {
namespace {

class Resume : public PoolTest {
 protected:
  // Runs `jobs` over an output that already holds `before`; gives the output after it.
  std::string OutputAfter(const std::string& before, const std::vector<Job>& jobs, int exit_code = 0) {
    std::string text;
    for (const auto& job : jobs) text += job.Line() + "\n";
    WriteFile(dir_ / "jobs", text);
    WriteFile(dir_ / "out", before);
    const auto run =
        RunSkerry({"run", dir_ / "jobs", "-o", dir_ / "out", "--resume", "--broker", pool().client_url()});
    EXPECT_EQ(run.exit_code, exit_code) << run.err;
    return ReadFile(dir_ / "out");
  }

  static std::string OkLine(const std::string& id, const std::string& value) {
    return R"({"id":")" + id + R"(","outcome":"ok","value":)" + value +
           R"(,"error":null,"events":[],"usage":{},"attempt":1})"
           "\n";
  }
  static std::string ErrorLine(const std::string& id, const std::string& code, const std::string& fault) {
    return R"({"id":")" + id + R"(","outcome":"error","value":null,"error":{"code":")" + code +
           R"(","limit":null,"fault":")" + fault +
           R"(","started":true,"retryable":false,"message":"m","name":"N"},"events":[],"usage":{},"attempt":1})"
           "\n";
  }

  TempDir dir_;
};

RunReport Parsed(const std::string& output) {
  RunReport report;
  ReadResults(output, report);
  return report;
}

TEST_F(Resume, SkipsJobsThatHaveTheirFinalAndKeepsTheirLines) {
  const std::string before = OkLine("a", "\"from the first run\"");
  const auto after = OutputAfter(before, {Job("a", "return 'again'"), Job("b", "return 'new'")});
  EXPECT_TRUE(after.starts_with(before)) << after;
  const auto report = Parsed(after);
  EXPECT_EQ(report.lines.size(), 2u);
  EXPECT_TRUE(IsOk(report.At("a"), "from the first run"));
  EXPECT_TRUE(IsOk(report.At("b"), "new"));
}

TEST_F(Resume, CutsOffATruncatedLastLineAndRunsItsJobAgain) {
  const std::string whole = OkLine("a", "1");
  for (const std::size_t length : {std::size_t{1}, whole.size() / 2, whole.size() - 2}) {
    const auto report = Parsed(OutputAfter(whole + OkLine("b", "2").substr(0, length),
                                           {Job("a", "return 0"), Job("b", "return 20")}));
    EXPECT_EQ(report.lines.size(), 2u) << length;
    EXPECT_TRUE(IsOk(report.At("a"), 1));
    EXPECT_TRUE(IsOk(report.At("b"), 20));
  }
}

TEST_F(Resume, RunsInfrastructureFaultsAgainAndProgramsFaultsNot) {
  const auto after =
      OutputAfter(ErrorLine("lost", "LOST", "infrastructure") + ErrorLine("threw", "RUNTIME", "program"),
                  {Job("lost", "return 'found'"), Job("threw", "return 'must not run'")}, 1);
  const auto lines = SplitLines(after);
  // Whether the old line is kept or replaced, the job's last word is the new one.
  JobResult last;
  for (const auto& line : lines) {
    const JobResult result(*ParseJson(line), line);
    if (result.Field("id") == "lost") last = result;
    EXPECT_NE(result.value(), "must not run");
  }
  EXPECT_TRUE(IsOk(last, "found"));
}

TEST_F(Resume, RunsJobsThatWereRateLimitedAgain) {
  const auto report = Parsed(
      OutputAfter(ErrorLine("limited", "RATE_LIMITED", "client"), {Job("limited", "return 'another time'")}));
  EXPECT_EQ(report.lines.size(), 1u);
  EXPECT_TRUE(IsOk(report.At("limited"), "another time"));
}

// A killed run's jobs go on without it: the resumed run takes their results over.
TEST_F(Resume, OfAKilledRunFindsItsRunningJobsInsteadOfRunningThemAgain) {
  WriteFile(dir_ / "jobs", Job("a", "const v = await dataProxy.request('slow'); return [v, Math.random()]")
                                   .Set("retry", "never")
                                   .Line() +
                               "\n" + Job("b", "reportStatus(1); await dataProxy.request('never')").Line() +
                               "\n");
  WriteFile(dir_ / "data", R"({"slow":{"$value":7,"$delayMs":1500},"never":{"$never":true}})");
  const std::vector<std::string> command = {
      Binary("skerry"), "run",      dir_ / "jobs",       "-o",     dir_ / "out",
      "--resume",       "--broker", pool().client_url(), "--data", dir_ / "data"};
  {
    Child killed(command);
    std::this_thread::sleep_for(std::chrono::milliseconds(900));
    ASSERT_TRUE(killed.IsRunning());
    EXPECT_TRUE(std::filesystem::exists((dir_ / "out.session").string()));
  }
  EXPECT_EQ(ReadFile(dir_ / "out"), "");
  WriteFile(dir_ / "data", R"({"slow":{"$value":7},"never":{"$value":8}})");
  Child resumed(command, {.stderr_path = dir_ / "stderr"});
  ASSERT_EQ(resumed.Wait(std::chrono::seconds(20)), 0) << ReadFile(dir_ / "stderr");
  const auto report = Parsed(ReadFile(dir_ / "out"));
  EXPECT_EQ(report.lines.size(), 2u);
  // It was waiting for its answer when its client was killed, and got it from the next one.
  EXPECT_TRUE(IsOk(report.At("a")));
  EXPECT_EQ(report.At("a").value().at(0), 7);
  EXPECT_EQ(report.At("a").Field("attempt"), 1);
  EXPECT_GT(report.At("a").Usage("wallMs"), 500) << "it ran a second time";
  EXPECT_TRUE(IsOk(report.At("b")));
  EXPECT_FALSE(std::filesystem::exists((dir_ / "out.session").string()));
}

TEST_F(Resume, OfACompleteOutputRunsNothing) {
  const std::string before = OkLine("a", "1") + OkLine("b", "2");
  EXPECT_EQ(OutputAfter(before, {Job("a", "return 0"), Job("b", "return 0")}), before);
}

TEST_F(Resume, OfNoOutputIsAnOrdinaryRun) {
  EXPECT_TRUE(IsOk(Parsed(OutputAfter("", {Job("a", "return 3")})).At("a"), 3));
}

}  // namespace
}  // namespace skerry::testing
