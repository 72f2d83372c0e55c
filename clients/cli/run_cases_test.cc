// `skerry run` with lines that have cases, through a real broker and a fake worker.
#include <gtest/gtest.h>

#include "clients/cli/testing/command.h"
#include "clients/cpp/testing/processes.h"
#include "common/hash.h"

namespace skerry::cli {
namespace {

using nlohmann::json;
using testing::ManyJobs;

class RunCases : public testing::Command {
 protected:
  /// Every line by id, "/", and the case's number; a summary by id alone.
  std::map<std::string, json> Lines() {
    std::map<std::string, json> lines;
    std::istringstream text(Text("out"));
    for (std::string line; std::getline(text, line);) {
      const json result = json::parse(line, nullptr, false);
      EXPECT_FALSE(result.is_discarded()) << line;
      if (result.is_discarded()) continue;
      std::string name = result["id"];
      if (result.contains("case")) name += "/" + std::to_string(result["case"].get<int>());
      EXPECT_TRUE(lines.emplace(name, result).second) << "twice: " << line;
    }
    return lines;
  }
  static std::string Cases(const std::string& id, const std::string& code, int count,
                           const std::string& more = "") {
    std::string line = R"({"id":")" + id + R"(","code":")" + code + R"(","cases":[0)";
    for (int i = 1; i < count; ++i) line += "," + std::to_string(i);
    return line + "]" + more + "}\n";
  }
};

TEST_F(RunCases, EachCaseHasItsLineAndThenComesTheSummary) {
  const std::string jobs = Jobs(R"({"id":"a","code":"log hi;echo","cases":[1, {"x": 2.50},"three"]})"
                                "\n"
                                R"({"id":"b","code":"echo","input":7})"
                                "\n");
  EXPECT_EQ(Run(RunArguments(jobs)), 0);
  auto lines = Lines();
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_EQ(lines["a/0"]["value"], 1);
  EXPECT_EQ(lines["a/2"]["value"], "three");
  EXPECT_EQ(lines["a/1"]["events"].size(), 1u);
  EXPECT_NE(Text("out").find(R"("value":{"x": 2.50})"), std::string::npos) << "its own text";
  EXPECT_EQ(lines["a"]["outcome"], "ok");
  EXPECT_EQ(lines["a"]["summary"]["ok"], 3);
  EXPECT_NE(Text("stderr").find("4 jobs in "), std::string::npos) << Text("stderr");
}

TEST_F(RunCases, ThousandsOfThemRunBesideOtherJobs) {
  const std::string jobs = Jobs(Cases("a", "echo", 3'000) + ManyJobs(50, "echo") + Cases("b", "echo", 10));
  EXPECT_EQ(Run(RunArguments(jobs)), 0);
  const auto lines = Lines();
  ASSERT_EQ(lines.size(), 3'000u + 50 + 10 + 2);
  for (int i = 0; i < 3'000; ++i) EXPECT_EQ(lines.at("a/" + std::to_string(i)).at("value"), i);
  const std::string out = Text("out");
  EXPECT_LT(out.find(R"("id":"j49")"), out.find(R"("id":"a","case":2999)")) << "none waited for all of them";
}

TEST_F(RunCases, AFailureIsExitOneAndStopsTheRestWhereTheLineSaysSo) {
  EXPECT_EQ(Run(RunArguments(Jobs(Cases("a", "error RUNTIME no", 2'000, R"(,"stopOn":"firstFailure")") +
                                  Cases("b", "error RUNTIME no", 3)),
                             {"--isolates", "2"})),
            1);
  auto lines = Lines();
  ASSERT_EQ(lines.size(), 2'000u + 3 + 2);
  const json summary = lines["a"]["summary"];
  EXPECT_EQ(summary["cases"], 2'000);
  EXPECT_GT(summary["cancelled"], 1'000);
  EXPECT_EQ(summary["failed"], summary["codes"]["RUNTIME"]);
  EXPECT_EQ(lines["a/1999"]["error"]["code"], "CANCELLED");
  EXPECT_EQ(lines["b"]["summary"]["codes"]["RUNTIME"], 3);
  EXPECT_EQ(lines["b"]["error"]["code"], "RUNTIME");
}

TEST_F(RunCases, ALineAtFaultHasOneResult) {
  EXPECT_EQ(Run(RunArguments(Jobs(Cases("a", "echo", 3, R"(,"input":1)") +
                                  Cases("b", "echo", 3, R"(,"user":"\u0007")") + Cases("x", "echo", 1) +
                                  Cases("x", "echo", 2)))),
            1);
  std::map<std::string, int> ids;
  std::istringstream text(Text("out"));
  for (std::string line; std::getline(text, line);) ++ids[json::parse(line)["id"]];
  EXPECT_EQ(ids, (std::map<std::string, int>{{"a", 1}, {"b", 1}, {"x", 3}}));
  EXPECT_NE(Text("out").find("line 2: id, tenant, user and turn must be"), std::string::npos);
  EXPECT_NE(Text("out").find("is repeated"), std::string::npos);
}

TEST_F(RunCases, ALaterLineNamesAProgramByItsHash) {
  const auto named = [](const std::string& id, const std::string& code) {
    return R"({"id":")" + id + R"(","program":{"hash":")" + Hex(Sha256(code)) + "\"},\"input\":7}\n";
  };
  EXPECT_EQ(Run(RunArguments(Jobs(named("early", "echo") +
                                  R"({"id":"gives","code":"echo","program":true})"
                                  "\n" +
                                  named("late", "echo") + Cases("cases", "log x;echo", 1) +
                                  named("of-cases", "log x;echo") +
                                  R"({"id":"plain","code":"log y;echo"})"
                                  "\n" +
                                  named("none", "log y;echo")))),
            1);
  auto lines = Lines();
  EXPECT_EQ(lines["late"]["value"], 7);
  EXPECT_EQ(lines["of-cases"]["value"], 7);
  for (const char* id : {"early", "none"}) EXPECT_EQ(lines[id]["error"]["code"], "VALIDATION") << id;
  EXPECT_NE(
      lines["early"]["error"]["message"].get<std::string>().find("line 1: program.hash names no program"),
      std::string::npos);
}

TEST_F(RunCases, AnInterruptedRunIsResumedCaseByCase) {
  const std::string jobs = Jobs(Cases("a", "sleep 10;echo", 400) + Cases("b", "error RUNTIME no", 2));
  const pid_t pid = Start(RunArguments(jobs));
  ASSERT_TRUE(Eventually([&] { return LinesSoFar() >= 20; }));
  kill(pid, SIGINT);
  EXPECT_EQ(Wait(pid), 130);
  const auto first = Lines();
  EXPECT_GE(first.size(), 20u);
  EXPECT_FALSE(first.contains("a")) << "no summary of what has not ended";
  std::size_t left = 402;
  for (const auto& [name, line] : first) {
    if (line.contains("case")) --left;
    EXPECT_TRUE(line["id"] == "b" || line["outcome"] == "ok") << line;
  }
  EXPECT_NE(Text("stderr").find("interrupted: " + std::to_string(left) + " jobs not run"), std::string::npos)
      << Text("stderr");

  std::ofstream(out(), std::ios::app) << R"({"id":"a","case":399,"outc)";  // as if killed while writing
  EXPECT_EQ(Run(RunArguments(jobs, {"--resume"})), 1);
  auto lines = Lines();
  ASSERT_EQ(lines.size(), 404u);
  EXPECT_EQ(lines["a"]["summary"]["ok"], 400);
  EXPECT_EQ(lines["b"]["summary"]["failed"], 2);
  EXPECT_EQ(Run(RunArguments(jobs, {"--resume"})), 1);  // nothing left to do
  EXPECT_EQ(Lines().size(), 404u);
}

TEST_F(RunCases, AResumedRunGoesOnWithWhatTheFirstFailureHadStopped) {
  const std::string jobs = Jobs(Cases("a", "echo", 5, R"(,"stopOn":"firstFailure")") + Cases("b", "echo", 2) +
                                Cases("x", "echo", 2));
  std::ofstream(out())
      << R"({"id":"a","case":3,"outcome":"error","error":{"code":"RUNTIME","fault":"program"}})"
         "\n"
      << R"({"id":"a","case":0,"outcome":"ok"})"
         "\n"
      << R"({"id":"b","case":0,"outcome":"error","error":{"code":"LOST","fault":"infrastructure"}})"
         "\n"
      << R"({"id":"b","case":1,"outcome":"ok"})"
         "\n"
      << R"({"id":"b","summary":{},"outcome":"error","error":{"code":"LOST","fault":"infrastructure"}})"
         "\n"
      << R"({"id":"x","case":0,"outcome":"ok"})"
         "\n"
      << R"({"id":"x","case":1,"outcome":"ok"})"
         "\n";
  EXPECT_EQ(Run(RunArguments(jobs, {"--resume"})), 1);
  auto lines = Lines();
  ASSERT_EQ(lines.size(), 5u + 2 + 2 + 3);
  EXPECT_EQ(lines["a"]["summary"]["cancelled"], 3);
  EXPECT_EQ(lines["a"]["summary"]["failed"], 1);
  EXPECT_EQ(lines["a/1"]["error"]["message"], "not run: an earlier case failed");
  EXPECT_EQ(lines["b/0"]["value"], 0);
  EXPECT_EQ(lines["b"]["outcome"], "ok");
  EXPECT_EQ(lines["x"]["summary"]["ok"], 2);
}

TEST_F(RunCases, InputsThatALineHasGotSinceRunOnResumeAndASecondSummaryCountsAll) {
  EXPECT_EQ(Run(RunArguments(Jobs(Cases("a", "echo", 2) + Cases("b", "error RUNTIME no", 1)))), 1);
  const std::string before = Text("out");
  const std::string grown = Jobs(Cases("a", "echo", 5) + Cases("b", "error RUNTIME no", 2));
  EXPECT_EQ(Run(RunArguments(grown, {"--resume"})), 1);
  std::string added = Text("out").substr(before.size());
  EXPECT_EQ(std::count(added.begin(), added.end(), '\n'), 3 + 1 + 1 + 1) << added;
  EXPECT_NE(added.find(R"("id":"a","summary":{"cases":5,"ok":5,)"), std::string::npos) << added;
  EXPECT_NE(added.find(R"("id":"b","summary":{"cases":2,"ok":0,"failed":2,)"), std::string::npos) << added;
  const std::string whole = Text("out");
  EXPECT_EQ(Run(RunArguments(grown, {"--resume"})), 1);
  EXPECT_EQ(Text("out"), whole) << "nothing left to do";

  // As if killed between the last new case and its summary.
  const std::size_t last = whole.rfind(R"({"id":"a","summary")");
  std::ofstream(out()) << whole.substr(0, last) << whole.substr(whole.find('\n', last) + 1);
  EXPECT_EQ(Run(RunArguments(grown, {"--resume"})), 1);
  added = Text("out");
  EXPECT_NE(added.find(R"("id":"a","summary":{"cases":5,"ok":5,)"), std::string::npos) << added;
}

TEST_F(RunCases, AKilledRunFindsItsCasesWithTheBrokerByTheirNames) {
  testing::Processes pool;
  pool.StartBroker();
  pool.StartWorker(4);
  const std::string jobs = Jobs(Cases("a", "log x;sleep 400;echo", 24));
  const std::vector<std::string> arguments = {"run", jobs, "-o", out(), "--broker", pool.clients()};
  const pid_t pid = Start(arguments);
  ASSERT_TRUE(Eventually([&] { return LinesSoFar() >= 4; }));
  kill(pid, SIGKILL);
  EXPECT_EQ(Wait(pid), -SIGKILL);
  auto resumed = arguments;
  resumed.emplace_back("--resume");
  EXPECT_EQ(Run(resumed), 0) << Text("stderr");
  auto lines = Lines();
  ASSERT_EQ(lines.size(), 25u);
  EXPECT_EQ(lines["a"]["summary"]["ok"], 24);
  // The last four waited for five rounds of 400 ms since the first run brought them; brought by the second,
  // which began after one round, they would have waited for four.
  for (int i = 20; i < 24; ++i) EXPECT_GT(lines["a/" + std::to_string(i)]["usage"]["queueMs"], 1'800) << i;
}

}  // namespace
}  // namespace skerry::cli
