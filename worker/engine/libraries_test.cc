#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "worker/engine/testing/forked_run.h"

namespace skerry::engine {
namespace {

using Libraries = std::vector<std::pair<std::string, std::string>>;

Ending RunWith(Libraries libraries, std::string code, Mode mode = Mode::kFunction) {
  ForkedRun run(std::move(code));
  run.program.mode = mode;
  run.libraries = std::move(libraries);
  return run.Go();
}

/// The text of a file of an npm package (package.json pins them).
std::string PackageFile(const std::string& path) {
  std::ifstream file(SKERRY_NODE_MODULES "/" + path);
  EXPECT_TRUE(file) << path << ": run ./dev setup";
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(Library, CommonJsGivesItsExports) {
  EXPECT_EQ(RunWith({{"a", "exports.one = 1"}}, "return require('a').one").outcome.value, "1");
  EXPECT_EQ(RunWith({{"a", "module.exports = (x) => x + 1"}}, "return require('a')(1)").outcome.value, "2");
  EXPECT_EQ(RunWith({{"a", "this.two = 2"}}, "return require('a').two").outcome.value, "2");
}

TEST(Library, AUmdBundleTakesTheWayOfCommonJs) {
  const std::string bundle =
      "(function (root, factory) {\n"
      "  if (typeof define === 'function' && define.amd) define([], factory);\n"
      "  else if (typeof module === 'object' && module.exports) module.exports = factory();\n"
      "  else root.lib = factory();\n"
      "})(typeof self !== 'undefined' ? self : this, function () { return { way: typeof window } });";
  EXPECT_EQ(RunWith({{"lib", bundle}}, "return [require('lib').way, typeof lib]").outcome.value,
            R"(["undefined","undefined"])");
}

TEST(Library, RequireIsThereInEveryModeAndOnlyWithLibraries) {
  const Libraries one = {{"a", "module.exports = 5"}};
  EXPECT_EQ(RunWith(one, "require('a')", Mode::kScript).outcome.value, "5");
  EXPECT_EQ(RunWith(one, "export default require('a')", Mode::kModule).outcome.value, "5");
  EXPECT_EQ(RunWith(one, "return [typeof module, typeof exports]").outcome.value,
            R"(["undefined","undefined"])");
  EXPECT_EQ(RunWith({}, "return typeof require").outcome.value, "\"undefined\"");
}

TEST(Library, RequireIsAFrozenBinding) {
  EXPECT_EQ(RunWith({{"a", ""}},
                    "const d = Object.getOwnPropertyDescriptor(globalThis, 'require');"
                    "return [Object.isFrozen(require), require.name, require.length, d.enumerable,"
                    " Object.getOwnPropertyNames(require)]")
                .outcome.value,
            R"([true,"require",1,false,["length","name"]])");
}

TEST(Library, RequireOfAnUnknownNameSaysWhatThereIs) {
  const Ending ending = RunWith({{"a", ""}, {"b", ""}}, "return require('fs')");
  ASSERT_EQ(ending.Verdict(), "RUNTIME");
  EXPECT_EQ(ending.outcome.error->message, "require: no library 'fs' here; this job has: a, b");
  EXPECT_EQ(ending.outcome.error->position, (SourcePosition{1, 8}));
  EXPECT_EQ(RunWith({{"a", ""}}, "return require(1)").outcome.error->name, "TypeError");
  EXPECT_EQ(RunWith({{"a", ""}}, "return require()").outcome.error->name, "TypeError");
  EXPECT_EQ(RunWith({{"a", ""}}, "return require('constructor')").Verdict(), "RUNTIME");
}

TEST(Library, FindsThoseBeforeItAndNotThoseBehind) {
  const Libraries chain = {{"a", "exports.n = 1"},
                           {"b", "exports.n = require('a').n + 1"},
                           {"c", "module.exports = () => require('b').n + require('a').n"}};
  EXPECT_EQ(RunWith(chain, "return [require('c')(), require('b') === require('b')]").outcome.value,
            "[3,true]");
  EXPECT_EQ(RunWith({{"b", "require('a')"}, {"a", ""}}, "return 1").Verdict(),
            "not loaded: library 'b' cannot be loaded: Error: require: no library 'a' here; none comes "
            "before this one (b:1:1)");
}

TEST(Library, ThatFailsIsToldInOneLine) {
  EXPECT_EQ(RunWith({{"bad", "\nexports.a = ;"}}, "").Verdict(),
            "not loaded: library 'bad' cannot be loaded: SyntaxError: Unexpected token ';' (bad:2:13)");
  EXPECT_EQ(RunWith({{"bad", "throw new TypeError('two\\nlines')"}}, "").Verdict(),
            "not loaded: library 'bad' cannot be loaded: TypeError: two lines (bad:1:1)");
  EXPECT_EQ(RunWith({{"bad", "return } {"}}, "").Verdict().substr(0, 38),
            "not loaded: library 'bad' cannot be lo");
}

TEST(Library, IsEvaluatedOnceAtATimeThatIsTheSameForEveryCell) {
  const Libraries now = {{"now", "exports.t = Date.now(); exports.r = Math.random()"}};
  const std::string code = "const { t, r } = require('now'); return [t, r, Math.abs(Date.now() - t) > 1e9]";
  const std::string first = RunWith(now, code).outcome.value;
  EXPECT_TRUE(first.starts_with("[1735689600000,")) << first;
  EXPECT_TRUE(first.ends_with(",true]")) << "a job's own clock is the real one: " << first;
  EXPECT_EQ(RunWith(now, code).outcome.value, first);
}

TEST(Library, WhatItSaysWhileItIsLoadedIsNobodysEvent) {
  const Ending ending = RunWith(
      {{"loud",
        "console.log('x'); reportStatus(1); Promise.reject(1); exports.log = () => console.log('later')"}},
      "require('loud').log(); return 1");
  ASSERT_EQ(ending.events.size(), 1u) << ending.Describe();
  EXPECT_EQ(ending.events[0].payload, "later");
}

TEST(Library, ItsFramesBearItsNameAndTheJobsPositionIsTheJobs) {
  const Ending ending = RunWith({{"lib", "\nexports.fail = () => {\n  throw new Error('inside');\n}"}},
                                "const { fail } = require('lib');\nfail();");
  ASSERT_EQ(ending.Verdict(), "RUNTIME");
  EXPECT_EQ(ending.outcome.error->position, (SourcePosition{2, 1}));
  EXPECT_EQ(ending.outcome.error->stack, "Error: inside\n    at exports.fail (lib:3:9)\n    at job.js:2:1");
}

TEST(Library, AProgramThatUsesItCanBeKept) {
  ForkedRun run(
      "const lib = require('lib'); const n = lib.double(4); export default (i) => n + lib.double(i.x)");
  run.program.mode = Mode::kModule;
  run.program.input = R"({"x":5})";
  run.libraries = {{"lib", "exports.double = (x) => x * 2"}};
  run.kept = Seeding::kPerRun;
  EXPECT_EQ(run.Go().outcome.value, "18");
}

TEST(Library, LodashWorks) {
  const Ending ending =
      RunWith({{"lodash", PackageFile("lodash/lodash.js")}},
              "const _ = require('lodash');"
              "return [_.chunk([1, 2, 3], 2), _.camelCase('some text'), typeof globalThis._,"
              " _.groupBy(['one', 'three'], 'length'), _.template('a<%= b %>')({ b: 1 })]");
  EXPECT_EQ(ending.outcome.value, R"([[[1,2],[3]],"someText","undefined",{"3":["one"],"5":["three"]},"a1"])")
      << ending.Describe();
}

TEST(Library, JsMd5Works) {
  const Ending ending = RunWith(
      {{"md5", PackageFile("js-md5/src/md5.js")}},
      "const md5 = require('md5'); return [md5('abc'), md5.hex(''), md5.base64('a'), typeof globalThis.md5]");
  EXPECT_EQ(ending.outcome.value, R"(["900150983cd24fb0d6963f7d28e17f72","d41d8cd98f00b204e9800998ecf8427e",)"
                                  R"("DMF1ucDxtqgxw5niaXcmYQ==","undefined"])")
      << ending.Describe();
}

TEST(Library, DoesNotCountInTheJobsMemory) {
  ForkedRun run("return require('big').length");
  run.libraries = {{"big", "module.exports = new Uint8Array(48 << 20).fill(7)"}};
  EXPECT_EQ(run.With(LimitId::kMemoryMb, 16).Go().outcome.value, std::to_string(48 << 20));
}

}  // namespace
}  // namespace skerry::engine
