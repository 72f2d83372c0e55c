// `skerry run` and `skerry exec` as DESIGN section 9 has them: lines in, lines out, exit codes.
#include <sys/stat.h>

#include <fstream>

#include "common/testing/proc_fs.h"
#include "tests/support/pool.h"

namespace skerry::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class CommandLine : public PoolTest {
 protected:
  static RunReport RunText(const std::string& text, RunOptions options = {}) {
    options.broker = pool().client_url();
    return RunLines(text, options);
  }
};

// One refused line between two good ones: its result, after checking that the others ran.
JobResult Refused(const RunReport& report, const std::string& id) {
  EXPECT_EQ(report.exit_code, 1) << report.stderr_text;
  EXPECT_EQ(report.lines.size(), 3u);
  EXPECT_TRUE(IsOk(report.At("before"), 1));
  EXPECT_TRUE(IsOk(report.At("after"), 2));
  const JobResult result = report.At(id);
  EXPECT_EQ(result.code(), "VALIDATION") << Shown(result);
  EXPECT_EQ(result.Error("fault"), "client");
  EXPECT_EQ(result.Error("started"), false);
  EXPECT_NE(result.message().find("line 2"), std::string::npos) << Shown(result);
  return result;
}

std::string BetweenGoodLines(const std::string& line) {
  return Job("before", "return 1").Line() + "\n" + line + "\n" + Job("after", "return 2").Line() + "\n";
}

TEST_F(CommandLine, AMalformedLineIsThatLinesResultAndTheRunGoesOn) {
  for (const char* line : {"{\"id\":\"x\",\"code\":", "not json", "[1]", "\"text\"",
                           "{\"code\":\"return 1\"} trailing", "{\"code\":\"\xff\xfe\"}"}) {
    SCOPED_TRACE(line);
    Refused(RunText(BetweenGoodLines(line)), "2");
  }
}

TEST_F(CommandLine, AnUnknownFieldIsNamed) {
  const auto result = Refused(RunText(BetweenGoodLines(R"({"id":"x","code":"return 1","timeout":5})")), "x");
  EXPECT_NE(result.message().find("timeout"), std::string::npos);
}

TEST_F(CommandLine, AnUnknownLimitIsNamed) {
  const auto result =
      Refused(RunText(BetweenGoodLines(R"({"id":"x","code":"return 1","limits":{"timeoutMS":5}})")), "x");
  EXPECT_NE(result.message().find("timeoutMS"), std::string::npos);
}

TEST_F(CommandLine, AbsurdLimitsAreRefusedWithTheirName) {
  for (const char* value :
       {"-1", "1.5", "\"100\"", "1e30", "18446744073709551616", "null", "true", "[1]", "{}"}) {
    SCOPED_TRACE(value);
    const auto result =
        Refused(RunText(BetweenGoodLines(
                    std::string(R"({"id":"x","code":"return 1","limits":{"timeoutMs":)") + value + "}}")),
                "x");
    EXPECT_NE(result.message().find("timeoutMs"), std::string::npos) << Shown(result);
  }
}

TEST_F(CommandLine, FieldsOfTheWrongTypeAreNamed) {
  for (const auto& [field, value] :
       std::vector<std::pair<std::string, std::string>>{{"code", "1"},
                                                        {"mode", "\"esm\""},
                                                        {"mode", "1"},
                                                        {"limits", "[]"},
                                                        {"tenant", "1"},
                                                        {"user", "{}"},
                                                        {"priority", "\"high\""},
                                                        {"deadlineMs", "-1"},
                                                        {"retry", "\"maybe\""},
                                                        {"admission", "\"later\""}}) {
    SCOPED_TRACE(field + " = " + value);
    const std::string code = field == "code" ? "" : R"("code":"return 1",)";
    const auto result =
        Refused(RunText(BetweenGoodLines("{\"id\":\"x\"," + code + "\"" + field + "\":" + value + "}")), "x");
    EXPECT_NE(result.message().find(field), std::string::npos) << Shown(result);
  }
}

TEST_F(CommandLine, ALineWithoutCodeIsRefused) {
  const auto result = Refused(RunText(BetweenGoodLines(R"({"id":"x"})")), "x");
  EXPECT_NE(result.message().find("code"), std::string::npos);
}

TEST_F(CommandLine, ARepeatedIdIsRefusedAndTheFirstOneRuns) {
  const auto report = RunText(Job("a", "return 1").Line() + "\n" + Job("a", "return 2").Line() + "\n" +
                              Job("b", "return 3").Line() + "\n");
  EXPECT_EQ(report.exit_code, 1);
  EXPECT_EQ(report.counts.at("a"), 2);
  EXPECT_TRUE(IsOk(report.At("b"), 3));
  int refused = 0;
  int ran = 0;
  for (const auto& line : report.lines) {
    const JobResult result(*ParseJson(line), line);
    if (result.Field("id") != "a") continue;
    ran += result.ok() && result.value() == 1;
    refused += result.code() == "VALIDATION" && result.message().find("line 2") != std::string::npos;
  }
  EXPECT_EQ(ran, 1);
  EXPECT_EQ(refused, 1);
}

TEST_F(CommandLine, ABrokenLinesNumberDoesNotTakeAJobsId) {
  const auto run = RunText("nonsense\n" + Job("1", "return 'innocent'").Line() + "\n");
  ASSERT_EQ(run.lines.size(), 2u);
  std::string both = run.lines[0] + run.lines[1];
  EXPECT_NE(both.find("\"value\":\"innocent\""), std::string::npos) << both;
  EXPECT_NE(both.find("line 1: not valid JSON"), std::string::npos) << both;
}

TEST_F(CommandLine, TheIdDefaultsToTheLineNumber) {
  const auto report =
      RunText("{\"code\":\"return 'one'\"}\n{\"code\":\"return 'two'\"}");  // no end of line, too
  EXPECT_EQ(report.exit_code, 0);
  EXPECT_TRUE(IsOk(report.At("1"), "one"));
  EXPECT_TRUE(IsOk(report.At("2"), "two"));
}

TEST_F(CommandLine, AnEmptyFileIsAnEmptySuccess) {
  const auto report = RunText("");
  EXPECT_EQ(report.exit_code, 0);
  EXPECT_TRUE(report.lines.empty());
}

TEST_F(CommandLine, AResultLineHasTheContractsFieldsInItsOrder) {
  const auto result = RunOne(Job("a1", "console.log('t');return input.x+1").Set("input", {{"x", 1}}));
  const auto json = ParseJson(result.line());
  ASSERT_TRUE(json);
  std::vector<std::string> keys;
  for (const auto& [key, value] : json->items()) keys.push_back(key);
  EXPECT_EQ(keys,
            (std::vector<std::string>{"id", "outcome", "value", "error", "events", "usage", "attempt"}));
  EXPECT_EQ(json->at("error"), nullptr);
  EXPECT_EQ(json->at("events").at(0).at("text"), "t");
}

TEST_F(CommandLine, AFailedJobsLineHasNoValue) {
  const auto result = RunOne(Job("a1", "throw new Error('x')"));
  const Json json = *ParseJson(result.line());
  EXPECT_TRUE(!json.contains("value") || json.at("value").is_null()) << Shown(result);
}

TEST_F(CommandLine, DashesAreStandardInputAndOutput) {
  const auto run =
      RunSkerry({"run", "-", "-o", "-", "--broker", pool().client_url()}, Job("a", "return 7").Line() + "\n");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  RunReport report;
  ReadResults(run.out, report);
  ASSERT_EQ(report.lines.size(), 1u) << "standard output holds something else: " << run.out;
  EXPECT_TRUE(IsOk(report.At("a"), 7));
}

TEST_F(CommandLine, ResultsGoToStandardOutputByDefaultAndNothingElseDoes) {
  const auto run = RunSkerry({"run", "-", "--broker", pool().client_url()},
                             Job("a", "console.log('noise');throw 1").Line() + "\n");
  EXPECT_EQ(run.exit_code, 1) << run.err;
  EXPECT_EQ(SplitLines(run.out).size(), 1u) << run.out;
}

TEST_F(CommandLine, ThereIsNoProgressBarWhenStandardErrorIsNoTerminal) {
  const auto run =
      RunSkerry({"run", "-", "--broker", pool().client_url()}, Job("a", "return 1").Line() + "\n");
  EXPECT_EQ(run.err.find('\r'), std::string::npos) << run.err;
  EXPECT_EQ(run.err.find('\x1b'), std::string::npos) << run.err;
}

TEST_F(CommandLine, ResultsAppearAsJobsFinishAndNotAtTheEnd) {
  const TempDir dir;
  WriteFile(dir / "jobs", Job("slow", "for(;;);").Limit("timeoutMs", 4000).Line() + "\n" +
                              Job("fast", "return 1").Line() + "\n");
  Child skerry({Binary("skerry"), "run", dir / "jobs", "-o", dir / "out", "--broker", pool().client_url()});
  std::string out;
  for (int i = 0; i < 300 && out.find('\n') == std::string::npos; ++i) {
    std::this_thread::sleep_for(milliseconds(10));
    out = ReadFile(dir / "out");
  }
  EXPECT_TRUE(skerry.IsRunning()) << "the slow job had ended already: nothing is shown by this run";
  EXPECT_NE(out.find("\"id\":\"fast\""), std::string::npos) << out;
  EXPECT_EQ(skerry.Wait(seconds(15)), 1);
}

TEST_F(CommandLine, TheTenantOptionAndTheJobsOwnTenantAreBothAccepted) {
  RunOptions options{.args = {"--tenant", "acme", "--user", "u1"}};
  const auto report = RunText(Job("a", "return 1").Line() + "\n" +
                                  Job("b", "return 2").Tenant("other").Set("user", "u2").Line() + "\n",
                              options);
  EXPECT_EQ(report.exit_code, 0) << report.stderr_text;
}

TEST_F(CommandLine, UnknownOptionsAndMissingFilesAreUsageErrors) {
  EXPECT_EQ(RunSkerry({"run", "--no-such-option", "x"}).exit_code, 2);
  EXPECT_EQ(RunSkerry({"no-such-command"}).exit_code, 2);
  EXPECT_EQ(RunSkerry({"run"}).exit_code, 2);
  const auto missing = RunSkerry({"run", "/nonexistent/jobs.jsonl", "--broker", pool().client_url()});
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_NE(missing.err.find("/nonexistent/jobs.jsonl"), std::string::npos) << missing.err;
  EXPECT_EQ(
      RunSkerry({"run", "-", "--data", "/nonexistent/f.json", "--broker", pool().client_url()}).exit_code, 2);
  EXPECT_EQ(RunSkerry({"run", "-", "--isolates", "-3"}).exit_code, 2);
}

TEST_F(CommandLine, AnOutputThatCannotBeWrittenEndsTheRunAndSaysSo) {
  const std::string line = Job("a", "return 1").Line() + "\n";
  for (const char* output : {"/nonexistent/folder/results", "/dev/full"}) {
    const auto run =
        RunSkerry({"run", "-", "-o", output, "--broker", pool().client_url()}, line, seconds(20));
    EXPECT_TRUE(run.exit_code && *run.exit_code != 0 && *run.exit_code != 1) << output;
    EXPECT_NE(run.err.find(output), std::string::npos) << run.err;
  }
}

TEST_F(CommandLine, FixturesThatAreNoJsonObjectAreAUsageError) {
  const TempDir dir;
  for (const char* text : {"{", "[1]", "7"}) {
    WriteFile(dir / "f.json", text);
    EXPECT_EQ(RunSkerry({"run", "-", "--data", dir / "f.json", "--broker", pool().client_url()}).exit_code, 2)
        << text;
  }
}

TEST_F(CommandLine, HelpShowsExamplesAndSucceeds) {
  const auto help = RunSkerry({"--help"});
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_NE(help.out.find("skerry run"), std::string::npos) << help.out;
  for (const char* command : {"run", "exec"}) {
    const auto of_command = RunSkerry({command, "--help"});
    EXPECT_EQ(of_command.exit_code, 0);
    EXPECT_NE(of_command.out.find(std::string("skerry ") + command), std::string::npos) << of_command.out;
  }
}

TEST(CommandLineAlone, ABrokerThatIsNotThereIsExitCode69) {
  const TempDir dir;
  const auto start = std::chrono::steady_clock::now();
  const auto run = RunSkerry({"run", "-", "--broker", "ipc://" + (dir / "nobody").string()},
                             Job("a", "return 1").Line() + "\n");
  EXPECT_EQ(run.exit_code, 69) << run.err;
  EXPECT_FALSE(run.err.empty());
  EXPECT_LT(std::chrono::steady_clock::now() - start, seconds(30));
}

TEST(CommandLineAlone, EndpointsBeyondThisMachineAreRefusedWithoutKeys) {
  const std::string code = Job("a", "return 1").Line() + "\n";
  for (const char* endpoint : {"tcp://8.8.8.8:7001", "tcp://0.0.0.0:7001", "tcp://*:7001", "nonsense"}) {
    const auto run = RunSkerry({"run", "-", "--broker", endpoint}, code);
    EXPECT_EQ(run.exit_code, 2) << endpoint;
    EXPECT_NE(run.err.find(endpoint), std::string::npos) << run.err;
    EXPECT_EQ(Child({Binary("skerry-worker"), "--broker", endpoint}).Wait(seconds(10)), 2) << endpoint;
    const std::vector<std::string> broker = {Binary("skerry-broker"), "--clients", endpoint, "--workers",
                                             "ipc:///tmp/skerry-refused"};
    EXPECT_EQ(Child(broker).Wait(seconds(10)), 2) << endpoint;
  }
}

TEST(CommandLineAlone, AWorkerThatCannotStartIsExitCode69AndNoHang) {
  const auto run = RunSkerry({"run", "-", "--worker-program", "/bin/false"},
                             Job("a", "return 1").Line() + "\n", seconds(20));
  EXPECT_EQ(run.exit_code, 69);
  EXPECT_NE(run.err.find("/bin/false"), std::string::npos) << run.err;
}

TEST(CommandLineAlone, WithoutABrokerItBringsItsOwnAndTakesItDown) {
  const TempDir dir;
  WriteFile(dir / "jobs", Job("slow", "await dataProxy.request('w');return 1").Line() + "\n");
  WriteFile(dir / "data", R"({"w":{"$value":1,"$delayMs":1500}})");
  Child skerry({Binary("skerry"), "run", dir / "jobs", "-o", dir / "out", "--data", dir / "data"},
               {.stderr_path = dir / "err"});
  std::set<pid_t> tree;
  for (int i = 0; i < 140 && tree.size() < 5; ++i) {  // itself, broker, worker, cell, init stub or isolate
    std::this_thread::sleep_for(milliseconds(10));
    tree = TreeOf(skerry.pid());
  }
  EXPECT_GE(tree.size(), 5u);
  EXPECT_EQ(skerry.Wait(seconds(20)), 0) << ReadFile(dir / "err");
  for (const pid_t pid : tree) EXPECT_TRUE(IsGoneWithin(pid, seconds(3))) << StatusField(pid, "Name");
}

TEST(CommandLineAlone, KillingItLeavesNothingRunning) {
  const TempDir dir;
  WriteFile(dir / "jobs", Job("spin", "for(;;);").Limit("timeoutMs", 60'000).Line() + "\n");
  Child skerry({Binary("skerry"), "run", dir / "jobs", "-o", dir / "out"});
  std::set<pid_t> tree;
  // The isolate too. Processes that only help others to start come and go meanwhile: twice in a row counts.
  for (std::size_t before = 0; before < 6 || tree.size() < 6;) {
    before = tree.size();
    std::this_thread::sleep_for(milliseconds(200));
    tree = TreeOf(skerry.pid());
    ASSERT_TRUE(skerry.IsRunning());
  }
  EXPECT_GE(tree.size(), 6u);
  skerry.Signal(SIGKILL);
  for (const pid_t pid : tree) EXPECT_TRUE(IsGoneWithin(pid, seconds(5))) << StatusField(pid, "Name");
}

TEST_F(CommandLine, AnInterruptIsExitCode130AndLeavesWholeLinesOnly) {
  const TempDir dir;
  std::string text;
  for (int i = 0; i < 5; ++i)
    text += Job("ok" + std::to_string(i), "return " + std::to_string(i)).Line() + "\n";
  text += Job("spin", "for(;;);").Line() + "\n";
  WriteFile(dir / "jobs", text);
  Child skerry({Binary("skerry"), "run", dir / "jobs", "-o", dir / "out", "--broker", pool().client_url()});
  for (int i = 0; i < 500 && SplitLines(ReadFile(dir / "out")).size() < 5; ++i)
    std::this_thread::sleep_for(milliseconds(10));
  skerry.Signal(SIGINT);
  EXPECT_EQ(skerry.Wait(seconds(10)), 130);
  RunReport report;
  const std::string out = ReadFile(dir / "out");
  ReadResults(out, report);
  EXPECT_TRUE(out.ends_with("\n"));
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(IsOk(report.At("ok" + std::to_string(i)), i));
  // The interrupted job's slot must be free again: four more run at once, in less than its 30 s timeout.
  EXPECT_TRUE(IsOk(RunOne(Job("next", "return 1")), 1));
}

TEST_F(CommandLine, AMillionBytesOfJobsAtATimeDoNotPileUpInMemory) {
  // 4000 lines of 64 KiB: 256 MiB of jobs; credit keeps at most 1024 in flight.
  constexpr std::uint64_t kMostResident = 220ull << 20;
  const TempDir dir;
  {
    std::ofstream jobs(dir / "jobs", std::ios::binary);
    const std::string padding(64 << 10, 'x');
    for (int i = 0; i < 4000; ++i) jobs << R"({"code":"return input.length","input":")" << padding << "\"}\n";
  }
  Child skerry({Binary("skerry"), "run", dir / "jobs", "-o", dir / "out", "--broker", pool().client_url()});
  std::uint64_t peak = 0;
  while (!skerry.Wait(milliseconds(20))) peak = std::max(peak, PeakResidentBytes(skerry.pid()));
  EXPECT_EQ(skerry.Wait(milliseconds(0)), 0);
  EXPECT_EQ(SplitLines(ReadFile(dir / "out")).size(), 4000u);
  EXPECT_GT(peak, 0u);
  EXPECT_LT(peak, kMostResident);
}

TEST_F(CommandLine, ExecRunsOneFile) {
  const TempDir dir;
  WriteFile(dir / "good.js", "console.log('said');\nreturn input.a + 1;\n");
  WriteFile(dir / "bad.js", "const a = 1;\nthrow new TypeError('broken');\n");
  const auto good = RunSkerry({"exec", dir / "good.js", "--input", "{\"a\":41}"});
  EXPECT_EQ(good.exit_code, 0) << good.err;
  EXPECT_EQ(good.out, "42\n");
  EXPECT_NE(good.err.find("said"), std::string::npos) << good.err;
  const auto bad = RunSkerry({"exec", dir / "bad.js"});
  EXPECT_EQ(bad.exit_code, 1);
  EXPECT_EQ(bad.out, "");
  EXPECT_NE(bad.err.find("TypeError: broken"), std::string::npos) << bad.err;
  EXPECT_NE(bad.err.find(":2:"), std::string::npos) << bad.err;
  EXPECT_EQ(RunSkerry({"exec", dir / "missing.js"}).exit_code, 2);
}

}  // namespace
}  // namespace skerry::testing
