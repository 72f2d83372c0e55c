// One program over many inputs, through the whole stack: its evaluated state is kept in a cell of its own,
// which must change nothing but the time it takes.
#include <signal.h>

#include <cstring>
#include <future>
#include <thread>

#include "common/hash.h"
#include "common/testing/free_port.h"
#include "tests/support/cases_report.h"
#include "tests/support/metrics_page.h"
#include "tests/support/pool_watch.h"

namespace skerry::testing {
namespace {

Job Module(const std::string& id, const std::string& code, std::vector<Json> inputs) {
  return Job(id, code).Mode("module").Set("cases", std::move(inputs));
}

PoolOptions Debugging(int isolates) {
  return {.isolates = isolates, .worker_args = {"--log-level", "debug"}};
}

TEST(CasesStack, EachBeginsWithTheStateThatWasEvaluatedOnceAndHasAResultOfItsOwn) {
  Pool pool(Debugging(4));
  const RunReport report = RunCases(
      pool,
      {Module(
          "c",
          "let n = 40; const table = new Map([[1, 'one']]);\nexport default (x) => [++n, table.size, x * 2];",
          Numbers(300))});
  const CasesReport cases = CasesOf(report, "c");
  ASSERT_EQ(cases.cases.size(), 300u);
  for (const auto& [number, result] : cases.cases) EXPECT_TRUE(IsOk(result, Json{41, 1, number * 2}));
  EXPECT_EQ(cases.summary.at("ok"), 300);
  EXPECT_EQ(DerivedCellsOf(pool).size(), 1u) << "evaluated once";
}

TEST(CasesStack, AFailingCaseIsItsOwnAffair) {
  Pool pool(Debugging(2));
  const RunReport report =
      RunCases(pool, {Module("c",
                             "const big = new Array(1000).fill('x');\n"
                             "export default (x) => {\n"
                             "  if (x === 1) throw new TypeError('one');\n"
                             "  if (x === 2) for (;;);\n"
                             "  if (x === 3) for (const all = []; ; ) all.push(new Array(1e5).fill(1.5));\n"
                             "  if (x === 4) return 10n;\n"
                             "  console.log(x);\n"
                             "  return big.length;\n"
                             "}",
                             Numbers(8))
                          // Time enough for the bomb, too, however little of it a busy machine gives.
                          .Limit("timeoutMs", 5'000)
                          .Limit("memoryMb", 64)});
  const CasesReport cases = CasesOf(report, "c");
  ASSERT_EQ(cases.cases.size(), 8u);
  EXPECT_TRUE(IsError(cases.cases.at(1), "RUNTIME"));
  EXPECT_EQ(cases.cases.at(1).Error("line"), 3) << "in the program's own coordinates";
  EXPECT_TRUE(IsError(cases.cases.at(2), "TIMEOUT", "timeoutMs"));
  EXPECT_TRUE(IsError(cases.cases.at(3), "OOM", "memoryMb"));
  EXPECT_TRUE(IsError(cases.cases.at(4), "VALIDATION"));
  for (const int number : {0, 5, 6, 7}) {
    EXPECT_TRUE(IsOk(cases.cases.at(number), 1000));
    EXPECT_EQ(cases.cases.at(number).ConsoleTexts(), std::vector<std::string>{std::to_string(number)});
  }
  EXPECT_EQ(cases.summary.at("failed"), 4);
  EXPECT_EQ(DerivedCellsOf(pool).size(), 1u);
}

TEST(CasesStack, AProgramThatCannotBeKeptEndsAsSoManyJobsOfItsOwnWould) {
  const std::vector<std::pair<std::string, std::string>> programs = {
      {"syntax", "export default (x => x"},
      {"throws", "throw new Error('while evaluating'); export default 1"},
      {"loops", "for (;;); export default 1"},
      {"bombs", "const all = []; for (;;) all.push(new Array(1e5).fill(1.5)); export default 1"},
      {"pends", "await new Promise(() => {}); export default 1"},
      {"logs", "console.log('evaluating'); export default (x) => x"},
      {"reads", "const seen = input; export default (x) => [seen, x]"},
      {"calls", "const got = await dataProxy.request('m', 1); export default (x) => [got, x]"},
      {"rejects", "Promise.reject(new Error('left')); export default (x) => x"},
      {"none", "export const other = 1"},
      {"draws", "const drawn = typeof Math.random(); export default (x) => [drawn, x]"},
      {"looks", "const now = typeof Date.now(); export default (x) => [now, x]"},
      {"recurses", "const f = () => f(); f(); export default 1"},
  };
  std::vector<Job> jobs;
  // A bomb takes its time on a busy machine; whoever loops takes all of it.
  const auto limited = [](Job job) {
    return job.Limit("timeoutMs", job.Line().find("for (;;);") == std::string::npos ? 20'000 : 400)
        .Limit("memoryMb", 64);
  };
  for (const auto& [id, code] : programs) {
    jobs.push_back(limited(Module(id, code, {7, 7})));
    jobs.push_back(limited(Job(id + " plain", code).Mode("module").Set("input", 7)));
  }
  Pool pool({.isolates = 4});
  RunOptions options;
  options.fixtures = Json{{"m", "answer"}};
  const RunReport report = RunCases(pool, jobs, options);
  for (const auto& [id, code] : programs) {
    const JobResult& plain = report.At(id + " plain");
    const CasesReport cases = CasesOf(report, id);
    ASSERT_EQ(cases.cases.size(), 2u) << id;
    for (const auto& [number, result] : cases.cases) {
      EXPECT_EQ(result.ok(), plain.ok()) << id << ": " << Shown(result);
      EXPECT_EQ(result.value(), plain.value()) << id;
      for (const char* field : {"code", "limit", "fault", "message", "line", "column", "stack", "started"})
        EXPECT_EQ(result.Error(field), plain.Error(field)) << id << " " << field;
      EXPECT_EQ(result.Events(), plain.Events()) << id;
    }
  }
}

TEST(CasesStack, AThousandEndAsAThousandJobsOfTheirOwnWould) {
  Pool pool({.isolates = 4});
  const std::string code =
      "const seen = [];\nexport default (x) => { seen.push(x); if (x % 10 === 7) throw new Error('at ' + x);"
      " console.log(x); return [seen, x * x, String(x)] }";
  std::vector<Job> lines = {Module("c", code, Numbers(1'000))};
  for (int i = 0; i < 1'000; ++i)
    lines.push_back(Job("j" + std::to_string(i), code).Mode("module").Set("input", i));
  const RunReport report = RunCases(pool, lines);
  const CasesReport cases = CasesOf(report, "c");
  ASSERT_EQ(cases.cases.size(), 1'000u);
  EXPECT_EQ(cases.summary.at("failed"), 100);
  for (const auto& [number, result] : cases.cases) {
    const JobResult& plain = report.At("j" + std::to_string(number));
    EXPECT_EQ(result.ok(), number % 10 != 7);
    EXPECT_EQ(result.value(), plain.value()) << number;
    EXPECT_EQ(result.Field("error"), plain.Field("error")) << number;
    EXPECT_EQ(result.Events(), plain.Events()) << number;
  }
}

// Its code goes once from the client, once to each worker; a second run of a client has to bring it again.
TEST(CasesStack, TheCodeCrossesOnceAndAProgramIsEvaluatedOnce) {
  const std::uint16_t port = FreePort();
  Pool pool({.isolates = 2, .broker_args = {"--metrics", "127.0.0.1:" + std::to_string(port)}});
  ASSERT_TRUE(IsOk(pool.RunOne(Job("warm", "return 1")), 1));
  const MetricsPage before = MetricsPage::Of(port);
  const std::string code = "let n = 0; export default (x) => [++n, x]";
  const RunReport report = RunCases(
      pool, {Module("c", code, Numbers(200)),
             Job("named", "").Set("code", code).Mode("module").Set("program", true).Set("input", 5)});
  EXPECT_EQ(CasesOf(report, "c").summary.at("ok"), 200);
  EXPECT_TRUE(IsOk(report.At("named"), Json{1, 5}));
  const MetricsPage after = AwaitMetrics(port, [](const MetricsPage& page) {
    return page.Value("skerry_derived_cells_total{event=\"program_job\"}") >= 201;
  });
  EXPECT_EQ(after.Since(before, "skerry_program_submits_total"),
            (Moved{{"{code=\"sent\"}", 1}, {"{code=\"left_out\"}", 200}}));
  EXPECT_EQ(after.Since(before, "skerry_program_dispatches_total"),
            (Moved{{"{code=\"sent\"}", 1}, {"{code=\"left_out\"}", 200}}));
  EXPECT_EQ(after.Since(before, "skerry_derived_cells_total"),
            (Moved{{"{event=\"program_made\"}", 1}, {"{event=\"program_job\"}", 201}}));
}

TEST(CasesStack, ALaterLineThatNamesTheProgramByItsHashStartsFromTheSameState) {
  Pool pool(Debugging(2));
  const std::string code = "let n = 0; export default (x) => [++n, x]";
  Json later = Json::parse(Job("later", "").Mode("module").Set("input", 9).Line());
  later.erase("code");
  later["program"] = {{"hash", Hex(Sha256(code))}};
  const RunReport report = RunLines(Module("c", code, Numbers(3)).Line() + "\n" + later.dump() + "\n",
                                    {.broker = pool.client_url()});
  EXPECT_EQ(CasesOf(report, "c").summary.at("ok"), 3);
  EXPECT_TRUE(IsOk(report.At("later"), Json{1, 9}));
  EXPECT_EQ(DerivedCellsOf(pool).size(), 1u) << "evaluated once";
}

TEST(CasesStack, StopOnFirstFailureCancelsWhatHasNotEnded) {
  Pool pool({.isolates = 1});
  const RunReport report = RunCases(pool, {Job("c", "if (input === 3) throw new Error('three'); return input")
                                               .Set("cases", Numbers(200))
                                               .Set("stopOn", "firstFailure")});
  const CasesReport cases = CasesOf(report, "c");
  ASSERT_EQ(cases.cases.size(), 200u);
  EXPECT_TRUE(IsError(cases.cases.at(3), "RUNTIME"));
  EXPECT_TRUE(IsError(cases.cases.at(199), "CANCELLED"));
  EXPECT_GT(cases.summary.at("cancelled"), 100);
  EXPECT_EQ(report.exit_code, 1);
}

TEST(CasesStack, ANamedProgramFindsItsEvaluatedStateAgain) {
  Pool pool(Debugging(2));
  const std::string code = "let n = 0; export default (x) => [++n, x]";
  const RunReport first =
      RunCases(pool, {Job("a", code).Mode("module").Set("program", true).Set("input", 1),
                      Job("b", code).Mode("module").Set("program", true).Set("input", 2)});
  EXPECT_TRUE(IsOk(first.At("a"), Json{1, 1}));
  EXPECT_TRUE(IsOk(first.At("b"), Json{1, 2}));
  const RunReport again =
      RunCases(pool, {Job("c", code).Mode("module").Set("program", true).Set("input", 3)});
  EXPECT_TRUE(IsOk(again.At("c"), Json{1, 3}));
  const RunReport other =
      RunCases(pool, {Job("d", code).Mode("module").Set("program", true).Tenant("other")});
  EXPECT_TRUE(IsOk(other.At("d")));
  EXPECT_EQ(DerivedCellsOf(pool).size(), 2u) << "one a tenant";
}

TEST(CasesStack, TwoWorkersShareThem) {
  Pool pool({.isolates = 2, .workers = 2, .worker_args = {"--log-level", "debug"}});
  const RunReport report = RunCases(
      pool,
      {Module("c", "export default (x) => { for (const end = Date.now() + 5; Date.now() < end;); return x }",
              Numbers(200))});
  EXPECT_EQ(CasesOf(report, "c").summary.at("ok"), 200);
  EXPECT_EQ(DerivedCellsOf(pool, 0).size(), 1u);
  EXPECT_EQ(DerivedCellsOf(pool, 1).size(), 1u);
}

/// Ends the program's cell again and again while its cases run.
TEST(CasesStack, TheEndOfTheirCellTouchesNoCase) {
  for (const int signal : {SIGKILL, SIGSEGV, SIGSTOP}) {
    Pool pool(Debugging(2));
    std::future<RunReport> run = std::async(std::launch::async, [&] {
      return RunCases(pool,
                      {Module("c", "const t = [1, 2, 3]; export default (x) => t.length + x", Numbers(600))});
    });
    std::size_t killed = 0;
    // From when there is one: a busy machine takes its time to get there.
    auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (std::chrono::steady_clock::now() < until) {
      const bool first = killed == 0;
      const auto cells = DerivedCellsOf(pool);
      for (; killed < cells.size(); ++killed) kill(cells[killed], signal);
      if (first && killed > 0) until = std::chrono::steady_clock::now() + std::chrono::milliseconds(600);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    const RunReport report = run.get();
    EXPECT_GE(killed, 1u);
    const CasesReport cases = CasesOf(report, "c");
    ASSERT_EQ(cases.cases.size(), 600u);
    for (const auto& [number, result] : cases.cases)
      EXPECT_TRUE(IsOk(result, 3 + number)) << strsignal(signal);
  }
}

TEST(CasesStack, NothingIsLeftOfProgramsThatAreNotKeptAnyMore) {
  Pool pool({.isolates = 2, .worker_args = {"--kept-cells", "2"}});
  const Resources before = AtRest(pool);
  std::vector<Job> jobs;
  for (int i = 0; i < 30; ++i)
    jobs.push_back(
        Module("p" + std::to_string(i), "export default (x) => x + " + std::to_string(i), Numbers(3)));
  const RunReport report = RunCases(pool, jobs);
  for (int i = 0; i < 30; ++i) EXPECT_EQ(CasesOf(report, "p" + std::to_string(i)).summary.at("ok"), 3);
  const Resources after = AtRest(pool);
  EXPECT_LE(after.processes, before.processes + 2) << "two are kept";
  EXPECT_LE(after.worker_descriptors, before.worker_descriptors + 2 * 6);
}

}  // namespace
}  // namespace skerry::testing
