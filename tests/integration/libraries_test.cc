// Jobs that name libraries, through the whole stack: with real ones from npm (package-lock.json).
#include "common/hash.h"
#include "tests/support/places.h"
#include "tests/support/pool.h"

namespace skerry::testing {
namespace {

std::string FromNpm(const std::string& name, const std::string& file) {
  return name + "=" SKERRY_NODE_MODULES "/" + name + "/" + file;
}

class Libraries : public ::testing::Test {
 protected:
  Libraries() {
    WriteFile(dir_ / "throws.js", "throw new Error('not today')");
    WriteFile(dir_ / "counts.js", "let n = 0; exports.next = () => ++n;");
  }
  std::vector<std::string> Arguments() const {
    return {"--library", FromNpm("lodash", "lodash.js"),
            "--library", FromNpm("js-md5", "src/md5.js"),
            "--library", "counts=" + (dir_ / "counts.js").string()};
  }

  TempDir dir_;
};

Job With(const std::string& id, const std::vector<std::string>& names, const std::string& code) {
  return Job(id, code).Set("libraries", names);
}

TEST_F(Libraries, LodashAndMd5WorkAloneAndTogether) {
  Pool pool({.worker_args = Arguments()});
  const RunReport report = pool.Run(
      {With("lodash", {"lodash"}, "return require('lodash').chunk(input, 2)").Set("input", {1, 2, 3}),
       With("md5", {"js-md5"}, "return require('js-md5')('abc')"),
       With("both", {"lodash", "js-md5"},
            "return require('lodash').map(['abc'], (x) => require('js-md5')(x))"),
       With("module", {"lodash"}, "const _ = require('lodash'); export default (x) => _.sum(x)")
           .Mode("module")
           .Set("input", {1, 2, 3}),
       With("script", {"lodash"}, "require('lodash').VERSION.split('.').length").Mode("script"),
       Job("without", "return typeof require")});
  EXPECT_TRUE(IsOk(report.At("lodash"), Json{{1, 2}, {3}}));
  EXPECT_TRUE(IsOk(report.At("md5"), "900150983cd24fb0d6963f7d28e17f72"));
  EXPECT_TRUE(IsOk(report.At("both"), Json{"900150983cd24fb0d6963f7d28e17f72"}));
  EXPECT_TRUE(IsOk(report.At("module"), 6));
  EXPECT_TRUE(IsOk(report.At("script"), 3));
  EXPECT_TRUE(IsOk(report.At("without"), "undefined"));
}

TEST_F(Libraries, TheTaskOfHumanEvalThatNeedsMd5Passes) {
  const auto file = SharedFile("data/humaneval_x_js.jsonl");
  if (!file) GTEST_SKIP() << "no shared data/humaneval_x_js.jsonl";
  for (const auto& line : SplitLines(ReadFile(*file))) {
    const auto task = ParseJson(line);
    if (!task || task->at("task_id") != "JavaScript/162") continue;
    const std::string code = task->at("prompt").get<std::string>() +
                             task->at("canonical_solution").get<std::string>() + "\n" +
                             task->at("test").get<std::string>();
    Pool pool({.worker_args = Arguments()});
    const JobResult result = pool.RunOne(With("162", {"js-md5"}, code).Mode("script"));
    EXPECT_TRUE(IsOk(result));
    EXPECT_TRUE(result.ConsoleTexts("assert").empty()) << Shown(result);
    return;
  }
  ADD_FAILURE() << "the data has no task JavaScript/162";
}

TEST_F(Libraries, EveryJobBeginsWithTheLibraryAsItWasLoaded) {
  Pool pool({.isolates = 2, .worker_args = Arguments()});
  std::vector<Job> jobs;
  for (int i = 0; i < 40; ++i) {
    jobs.push_back(
        With("j" + std::to_string(i), {"counts"},
             "const c = require('counts'); c.mine = c.mine || input; return [c.next(), c.next(), c.mine]")
            .Set("input", i + 1)
            .Tenant(i % 2 == 0 ? "even" : "odd"));
  }
  const RunReport report = pool.Run(jobs);
  for (int i = 0; i < 40; ++i) EXPECT_TRUE(IsOk(report.At("j" + std::to_string(i)), Json{1, 2, i + 1}));
}

TEST_F(Libraries, HostileProgramsEndThereAsTheyDoWithout) {
  Pool pool({.isolates = 2, .worker_args = Arguments()});
  const RunReport report =
      pool.Run({With("loop", {"lodash"}, "for (;;);").Limit("timeoutMs", 300),
                With("bomb", {"lodash"}, "const all = []; for (;;) all.push(new Array(1e5).fill(1.5))")
                    .Limit("memoryMb", 64),
                With("throws", {"lodash"}, "\nrequire('lodash').each(1, null); null.x"),
                With("unknown", {"lodash"}, "return require('js-md5')"),
                With("after", {"lodash"}, "return require('lodash').add(1, 2)")});
  EXPECT_TRUE(IsError(report.At("loop"), "TIMEOUT", "timeoutMs"));
  EXPECT_TRUE(IsError(report.At("bomb"), "OOM", "memoryMb"));
  EXPECT_TRUE(IsError(report.At("throws"), "RUNTIME"));
  EXPECT_EQ(report.At("throws").Error("line"), 2) << "in the job's own coordinates";
  EXPECT_TRUE(IsError(report.At("unknown"), "RUNTIME")) << "in the pool, but not asked for by this job";
  EXPECT_TRUE(IsOk(report.At("after"), 3));
}

TEST_F(Libraries, ExecGivesItsProgramTheLibrariesThatItIsToldOf) {
  WriteFile(dir_ / "scorer.js", "return require('lodash').sum(input)");
  WriteFile(dir_ / "inputs.jsonl", "[1,2]\n[3,4]\n");
  const std::string lodash = FromNpm("lodash", "lodash.js");
  const auto one = RunSkerry({"exec", dir_ / "scorer.js", "--library", lodash, "--input", "[1,2]"});
  EXPECT_EQ(one.out, "3\n") << one.err;
  const auto cases =
      RunSkerry({"exec", dir_ / "scorer.js", "--library", lodash, "--cases", dir_ / "inputs.jsonl"});
  EXPECT_EQ(cases.exit_code, 0) << cases.err;
  EXPECT_NE(cases.out.find("\"value\":7"), std::string::npos) << cases.out;
  Pool pool({.worker_args = Arguments()});
  WriteFile(dir_ / "both.js", "return [require('lodash').sum([1]), require('counts').next()]");
  const auto named =
      RunSkerry({"exec", dir_ / "both.js", "--broker", pool.client_url(), "--libraries", "lodash,counts"});
  EXPECT_EQ(named.out, "[1,1]\n") << named.err;
}

TEST_F(Libraries, AReceiptNamesThemWithTheHashesOfTheirTexts) {
  Pool pool({.worker_args = Arguments()});
  const JobResult result =
      pool.RunOne(With("r", {"lodash", "counts"}, "return require('counts').next()").Set("receipt", true));
  EXPECT_TRUE(IsOk(result, 1));
  const Json lodash = {{"name", "lodash"},
                       {"sha256", Hex(Sha256(ReadFile(SKERRY_NODE_MODULES "/lodash/lodash.js")))}};
  const Json counts = {{"name", "counts"}, {"sha256", Hex(Sha256(ReadFile(dir_ / "counts.js")))}};
  EXPECT_EQ(result.Field("receipt").at("libraries"), (Json{lodash, counts}));
}

TEST_F(Libraries, OneThatNobodyHasIsTheClientsFaultAndOneThatFailsIsNeverTheProgramsFault) {
  std::vector<std::string> arguments = Arguments();
  arguments.insert(arguments.end(), {"--library", "throws=" + (dir_ / "throws.js").string()});
  Pool pool({.worker_args = arguments});
  const JobResult unknown = pool.RunOne(With("u", {"left-pad"}, "return 1"));
  EXPECT_TRUE(IsError(unknown, "VALIDATION"));
  EXPECT_NE(unknown.message().find("left-pad"), std::string::npos) << unknown.message();
  const JobResult fails = pool.RunOne(With("f", {"throws"}, "return 1"));
  EXPECT_TRUE(IsError(fails, "LOST"));
  EXPECT_EQ(fails.Error("fault"), "infrastructure") << Shown(fails);
  EXPECT_EQ(fails.Error("started"), false);
  EXPECT_NE(ReadFile(pool.worker_log(0)).find("not today"), std::string::npos) << "its operator is told";
  EXPECT_TRUE(IsOk(pool.RunOne(With("g", {"lodash"}, "return 1")), 1)) << "the others' libraries are there";
}

// Each held a slot for 10 s, five times over, and its client then began anew.
TEST_F(Libraries, JobsWhoseLibraryNeverLoadsHoldUpNobody) {
  WriteFile(dir_ / "loops.js", "for (;;);");
  std::vector<std::string> arguments = Arguments();
  arguments.insert(arguments.end(), {"--library", "throws=" + (dir_ / "throws.js").string()});
  arguments.insert(arguments.end(), {"--library", "loops=" + (dir_ / "loops.js").string()});
  Pool pool({.isolates = 2, .worker_args = arguments});
  std::vector<Job> jobs;
  for (int i = 0; i < 20; ++i) {
    jobs.push_back(With("throws" + std::to_string(i), {"throws"}, "return 1").Tenant("a"));
    jobs.push_back(With("loops" + std::to_string(i), {"loops"}, "return 1").Tenant("a"));
    jobs.push_back(Job("other" + std::to_string(i), "return 1").Tenant("b"));
  }
  const RunReport report = pool.Run(jobs);
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(IsError(report.At("throws" + std::to_string(i)), "LOST"));
    EXPECT_TRUE(IsError(report.At("loops" + std::to_string(i)), "LOST"));
    EXPECT_TRUE(IsOk(report.At("other" + std::to_string(i)), 1));
  }
  const std::string log = ReadFile(pool.worker_log(0));
  const auto first = log.find("not today");
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(log.find("not today", first + 1), std::string::npos) << "said once";
}

}  // namespace
}  // namespace skerry::testing
