// What an error says, and where: the user's own coordinates in every mode.
#include <gtest/gtest.h>

#include <string>

#include "common/limits.h"
#include "worker/engine/testing/forked_run.h"

namespace skerry::engine {
namespace {

JobError ErrorOf(std::string code, Mode mode = Mode::kFunction) {
  ForkedRun run(std::move(code));
  run.program.mode = mode;
  const Ending ending = run.Go();
  EXPECT_TRUE(ending.outcome.error) << ending.Describe();
  return ending.outcome.error.value_or(JobError{});
}

class EveryMode : public testing::TestWithParam<Mode> {};

TEST_P(EveryMode, RuntimeErrorsHaveNameMessagePositionAndStack) {
  const JobError error = ErrorOf("function inner() {\n  null.x;\n}\n  inner();", GetParam());
  EXPECT_EQ(error.code, Code::kRuntime);
  EXPECT_EQ(error.fault, Fault::kProgram);
  EXPECT_EQ(error.name, "TypeError");
  EXPECT_EQ(error.message, "Cannot read properties of null (reading 'x')");
  EXPECT_EQ(error.position, (SourcePosition{2, 8}));
  EXPECT_EQ(error.stack,
            "TypeError: Cannot read properties of null (reading 'x')\n    at inner (job.js:2:8)\n    at "
            "job.js:4:3");
}

TEST_P(EveryMode, CompileErrorsHaveTheirPosition) {
  const JobError error = ErrorOf("let fine = 1;\n  let broken = ;", GetParam());
  EXPECT_EQ(error.code, Code::kCompile);
  EXPECT_EQ(error.name, "SyntaxError");
  EXPECT_EQ(error.message, "Unexpected token ';'");
  EXPECT_EQ(error.position, (SourcePosition{2, 16}));
}

TEST_P(EveryMode, ErrorsOfTheFirstLineAndColumn) {
  EXPECT_EQ(ErrorOf("undefined_name", GetParam()).position, (SourcePosition{1, 1}));
  EXPECT_EQ(ErrorOf(")", GetParam()).position, (SourcePosition{1, 1}));
}

TEST_P(EveryMode, AnUnfinishedTextEndsAtTheEndOfTheUsersText) {
  const JobError error = ErrorOf("let a = 1;\nif (a) {", GetParam());
  EXPECT_EQ(error.code, Code::kCompile);
  EXPECT_EQ(error.message, "Unexpected end of input");
  EXPECT_EQ(error.position, (SourcePosition{2, 9}));
}

TEST_P(EveryMode, ColumnsCountUtf16UnitsAtTheEndOfTheTextToo) {
  EXPECT_EQ(ErrorOf("let s='\xC3\xA9\xC3\xA9\xF0\x9F\x98\x80'; if (s) {", GetParam()).position,
            (SourcePosition{1, 23}));
}

TEST_P(EveryMode, AStackOverflowKeepsTheUsersPositions) {
  const JobError error = ErrorOf("\nfunction f(n) {\n  return 1 + f(n + 1);\n}\nf(0);", GetParam());
  EXPECT_EQ(error.name, "RangeError");
  EXPECT_EQ(error.position.line, 3u) << error.stack;
  EXPECT_NE(error.stack.find("at f (job.js:3:14)"), std::string::npos) << error.stack;
  EXPECT_EQ(error.stack.find("job.js:1:1"), std::string::npos) << error.stack;
}

TEST_P(EveryMode, EveryLineTerminatorCounts) {
  const std::string before[] = {"let a = 1;\n\n", "let a = 1;\r\r", "let a = 1;\r\n\r\n",
                                "let a = '\xE2\x80\xA8';\n"};
  for (const std::string& lines : before) {
    EXPECT_EQ(ErrorOf(lines + "throw new Error(1)", GetParam()).position, (SourcePosition{3, 7})) << lines;
  }
}

TEST_P(EveryMode, StackOverflowWhileCompilingIsACompileError) {
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  const JobError error = ErrorOf(deep, GetParam());
  EXPECT_EQ(error.code, Code::kCompile);
  EXPECT_EQ(error.name, "RangeError");
}

TEST_P(EveryMode, SyntaxErrorsOfEvalFunctionAndJsonAreRuntime) {
  for (const char* code : {"eval('(')", "new Function('}{')", "JSON.parse('{')"}) {
    const JobError error = ErrorOf(code, GetParam());
    EXPECT_EQ(error.code, Code::kRuntime) << code;
    EXPECT_EQ(error.name, "SyntaxError") << code;
    EXPECT_EQ(error.position.line, 1u) << code;
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, EveryMode, testing::Values(Mode::kFunction, Mode::kScript, Mode::kModule),
                         [](const auto& info) { return std::string(NameOf(info.param)); });

TEST(Errors, BodiesThatCloseTheWrapperDoNotCompile) {
  for (const char* code :
       {"}{", "return 1});globalThis.escaped=1;(async()=>{", "*/", "return 7 /* open", "})(",
        "#!/bin/js\nreturn 1", "import x from 'y'", "export default 1", "return %DebugPrint(1)"}) {
    EXPECT_EQ(ErrorOf(code).code, Code::kCompile) << code;
  }
}

TEST(Errors, AThrowAfterAnAwaitKeepsItsPosition) {
  const JobError error =
      ErrorOf("await null;\nconst f = async () => {\n await 1; throw new RangeError('late') };\nawait f()");
  EXPECT_EQ(error.name, "RangeError");
  EXPECT_EQ(error.position, (SourcePosition{3, 17}));
}

TEST(Errors, OfEvaledCodePointAtTheCallInTheUsersText) {
  const JobError error = ErrorOf("const a = 1;\n  eval('\\n\\nthrow new Error(1)')");
  EXPECT_EQ(error.position, (SourcePosition{2, 3}));
  EXPECT_EQ(error.stack, "Error: 1\n    at eval (<eval>:3:7)\n    at job.js:2:3");
}

TEST(Errors, TheStackThatAProgramSeesIsInItsCoordinates) {
  EXPECT_EQ(RunCode("const f = () => new Error('x').stack;\nreturn f()").outcome.value,
            R"("Error: x\n    at f (job.js:1:17)\n    at job.js:2:8")");
}

TEST(Errors, NoPathOfTheHostShows) {
  const Ending ending = RunCode(
      "const all = []; const o = {toString() { all.push(new Error('t').stack); return '' }};"
      "[1].map(() => `${o}`); JSON.parse('1', () => `${o}`); new Promise(() => { all.push(new "
      "Error('p').stack) });"
      "try { await import('x') } catch (e) { all.push(e.stack) } return all.join()");
  ASSERT_TRUE(ending.ok()) << ending.Describe();
  EXPECT_EQ(ending.outcome.value.find('/'), std::string::npos) << ending.outcome.value;
  EXPECT_EQ(ending.outcome.value.find("prelude"), std::string::npos) << ending.outcome.value;
}

TEST(Errors, AProgramsPrepareStackTraceWorksForItselfOnly) {
  EXPECT_EQ(
      RunCode("Error.prepareStackTrace = (e, sites) => e.message + sites.length; return new Error('n').stack")
          .outcome.value,
      "\"n1\"");
  const JobError error = ErrorOf("Error.prepareStackTrace = () => 'forged'; throw new Error('real')");
  EXPECT_EQ(error.stack, "Error: real\n    at job.js:1:49");
}

TEST(Errors, OfTheProgramsOwnClassesHaveTheirNames) {
  EXPECT_EQ(ErrorOf("class Mine extends Error { name = 'Mine' } throw new Mine('m')").name, "Mine");
  EXPECT_EQ(ErrorOf("const e = new Error('x'); e.name = Symbol('n'); throw e").name, "Error");
  EXPECT_EQ(
      ErrorOf("throw Object.assign(new Error('x'), {name: 'SandboxLimitError', limit: 'maxDataBytes'})").code,
      Code::kRuntime);
}

TEST(Errors, ThrownValuesThatAreNoErrorsAreShown) {
  EXPECT_EQ(ErrorOf("throw 5").message, "5");
  EXPECT_EQ(ErrorOf("throw 'text'").message, "'text'");
  EXPECT_EQ(ErrorOf("throw undefined").message, "undefined");
  EXPECT_EQ(ErrorOf("throw {code: 7, inner: [1]}").message, "{ code: 7, inner: [ 1 ] }");
  EXPECT_EQ(ErrorOf("throw {name: 'HttpError', message: 'not found'}").name, "HttpError");
  EXPECT_EQ(ErrorOf("throw new Proxy({}, {get() { for (;;); }})").message, "[Proxy]");
}

TEST(Errors, ReadingThemRunsNoUserCode) {
  for (const char* code :
       {"throw Object.defineProperty(new Error('x'), 'message', {get() { for (;;); }})",
        "throw Object.defineProperty(new Error('x'), 'name', {get() { for (;;); }})",
        "throw Object.defineProperty(new Error('x'), 'stack', {get() { for (;;); }})",
        "throw {toString() { for (;;); }, valueOf() { for (;;); }, get message() { for (;;); }}",
        "throw Object.setPrototypeOf(new Error('x'), new Proxy({}, {get() { for (;;); }, getPrototypeOf() { "
        "for (;;); }}))"}) {
    ForkedRun run(code);
    run.deadline = Millis(2000);
    EXPECT_EQ(run.Go().Verdict(), "RUNTIME") << code;
  }
}

TEST(Errors, MessageNameAndStackAreCappedBetweenCharacters) {
  const JobError error =
      ErrorOf("const e = new Error('é'.repeat(50000)); e.name = 'n' + 'é'.repeat(50000); throw e");
  EXPECT_EQ(error.message.size(), kMaxErrorBytes);
  EXPECT_EQ(error.name.size(), kMaxErrorBytes - 1);  // one byte of `n`, then whole characters
  EXPECT_LE(error.stack.size(), kMaxErrorBytes);
}

TEST(Errors, StackOverflowIsARangeErrorInEveryPlace) {
  for (const char* code :
       {"const f = () => f() + 1; f()", "const o = {toString() { return '' + o }}; '' + o",
        "const f = () => [1].map(f); f()", "class A { constructor() { new A } } new A",
        "const f = () => console.log(f()); f()", "const f = () => dataProxy.request(f()); f()"}) {
    EXPECT_EQ(ErrorOf(code).name, "RangeError") << code;
  }
}

}  // namespace
}  // namespace skerry::engine
