// How a program is read, and how its errors read: codes, messages, and positions in the user's own
// coordinates.
#include "tests/support/pool.h"

namespace skerry::testing {
namespace {

using Modes = PoolTest;
using ErrorPositions = PoolTest;
using Errors = PoolTest;

::testing::AssertionResult StandsAt(const JobResult& result, int line, int column) {
  if (result.Error("line") == line && result.Error("column") == column) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "expected " << line << ":" << column << ", got " << Shown(result);
}

TEST_F(Modes, AFunctionBodyReturnsAndAwaits) {
  const auto report = Run({Job("r", "return 1+1"), Job("a", "return await Promise.resolve(3)"),
                           Job("p", "return Promise.resolve(4)"), Job("n", "1+1"),
                           Job("named", "return 5").Mode("function"), Job("t", "return {then(f){f(6)}}")});
  EXPECT_TRUE(IsOk(report.At("r"), 2));
  EXPECT_TRUE(IsOk(report.At("a"), 3));
  EXPECT_TRUE(IsOk(report.At("p"), 4));
  EXPECT_TRUE(IsOk(report.At("n"), nullptr));
  EXPECT_TRUE(IsOk(report.At("named"), 5));
  EXPECT_TRUE(IsOk(report.At("t"), 6));
}

TEST_F(Modes, AScriptsCompletionValueIsItsValue) {
  const auto report = Run(
      {Job("v", "var x=20;x+1;").Mode("script"), Job("if", "if(true){7}else{8}").Mode("script"),
       Job("input", "input.a*2").Mode("script").Set("input", {{"a", 4}}),
       Job("sloppy", "undeclared=3;typeof this+undeclared").Mode("script"), Job("empty", "").Mode("script")});
  EXPECT_TRUE(IsOk(report.At("v"), 21));
  EXPECT_TRUE(IsOk(report.At("if"), 7));
  EXPECT_TRUE(IsOk(report.At("input"), 8));
  EXPECT_TRUE(IsOk(report.At("sloppy"), "object3"));
  EXPECT_TRUE(IsOk(report.At("empty"), nullptr));
}

TEST_F(Modes, AScriptDoesNotReturnNorAwait) {
  const auto report = Run({Job("return", "return 1").Mode("script"), Job("await", "await 1").Mode("script")});
  EXPECT_TRUE(IsError(report.At("return"), "COMPILE"));
  EXPECT_TRUE(IsError(report.At("await"), "COMPILE"));
}

TEST_F(Modes, AModulesDefaultExportIsCalledWithTheInput) {
  const auto report = Run(
      {Job("d", "export default (input)=>input.a+1").Mode("module").Set("input", {{"a", 1}}),
       Job("async", "export default async function(i){await null;return i}").Mode("module").Set("input", 9),
       Job("handler", "export function handler(i){return [i,typeof this]}").Mode("module").Set("input", 2),
       Job("top", "const x=await Promise.resolve(5);export default ()=>x").Mode("module"),
       Job("strict", "export default ()=>{try{undeclared=1}catch(e){return e.name}}").Mode("module")});
  EXPECT_TRUE(IsOk(report.At("d"), 2));
  EXPECT_TRUE(IsOk(report.At("async"), 9));
  EXPECT_TRUE(IsOk(report.At("handler"), Json{2, "undefined"}));
  EXPECT_TRUE(IsOk(report.At("top"), 5));
  EXPECT_TRUE(IsOk(report.At("strict"), "ReferenceError"));
}

TEST_F(Modes, AModuleImportsNothing) {
  const auto report = Run({Job("static", "import fs from 'fs';export default 1").Mode("module"),
                           Job("dynamic", "export default async()=>{await import('fs')}").Mode("module"),
                           Job("data",
                               "export default async()=>{try{await import('data:text/javascript,1')}"
                               "catch(e){return 'refused'}}")
                               .Mode("module")});
  EXPECT_TRUE(IsError(report.At("static"), "COMPILE"));
  EXPECT_TRUE(IsError(report.At("dynamic"), "RUNTIME"));
  EXPECT_TRUE(IsOk(report.At("data"), "refused"));
}

TEST_F(Modes, AnUnknownModeIsRefused) {
  RunOptions options;
  options.broker = pool().client_url();
  const auto report = RunLines(Job("m", "1").Mode("commonjs").Line() + "\n", options);
  EXPECT_TRUE(IsError(report.At("m"), "VALIDATION"));
  EXPECT_NE(report.At("m").message().find("mode"), std::string::npos);
}

TEST_F(ErrorPositions, OfARuntimeErrorAreTheUsersOwnInEveryMode) {
  const auto report = Run({Job("function", "const a = 1;\n\n  missing + a"),
                           Job("script", "const a = 1;\n\n  missing + a").Mode("script"),
                           Job("module", "const a = 1;\n\n  missing + a").Mode("module"),
                           Job("handler", "export default () => {\n  missing() }").Mode("module")});
  for (const char* id : {"function", "script", "module"}) {
    EXPECT_TRUE(IsError(report.At(id), "RUNTIME"));
    EXPECT_TRUE(StandsAt(report.At(id), 3, 3)) << id;
    EXPECT_EQ(report.At(id).Error("name"), "ReferenceError");
    EXPECT_EQ(report.At(id).message(), "missing is not defined");
  }
  EXPECT_TRUE(StandsAt(report.At("handler"), 2, 3));
}

TEST_F(ErrorPositions, OnTheFirstLineCountNoWrapper) {
  const auto report = Run({Job("function", "missing"), Job("script", "missing").Mode("script"),
                           Job("module", "missing").Mode("module"), Job("later", "let x=1; missing")});
  for (const char* id : {"function", "script", "module"}) EXPECT_TRUE(StandsAt(report.At(id), 1, 1)) << id;
  EXPECT_TRUE(StandsAt(report.At("later"), 1, 10));
}

TEST_F(ErrorPositions, OfACompileErrorAreTheUsersOwnInEveryMode) {
  const std::string code = "let fine = 1;\nlet x = ;\n";
  const auto report = Run({Job("function", code), Job("script", code).Mode("script"),
                           Job("module", code).Mode("module"), Job("first", "let x = ;")});
  for (const char* id : {"function", "script", "module"}) {
    EXPECT_TRUE(IsError(report.At(id), "COMPILE"));
    EXPECT_TRUE(StandsAt(report.At(id), 2, 9)) << id;
    EXPECT_EQ(report.At(id).Error("name"), "SyntaxError");
    EXPECT_EQ(report.At(id).Error("fault"), "program");
  }
  EXPECT_TRUE(StandsAt(report.At("first"), 1, 9));
}

TEST_F(ErrorPositions, OfACompileErrorAtTheVeryEndStayInsideTheProgram) {
  const auto result = RunOne(Job("end", "if (true) {\n  f("));
  EXPECT_TRUE(IsError(result, "COMPILE"));
  ASSERT_TRUE(result.Error("line").is_number()) << Shown(result);
  EXPECT_LE(result.Error("line").get<int>(), 3);
  EXPECT_GE(result.Error("line").get<int>(), 2);
}

TEST_F(ErrorPositions, OfADeepThrowAreItsOwnAndTheStackNamesTheCallers) {
  const auto result = RunOne(Job(
      "s",
      "function inner() {\n  throw new RangeError('deep');\n}\nfunction outer() {\n  inner();\n}\nouter();"));
  EXPECT_TRUE(IsError(result, "RUNTIME"));
  EXPECT_EQ(result.Error("line"), 2);
  EXPECT_EQ(result.Error("name"), "RangeError");
  const auto stack = result.Error("stack").get<std::string>();
  const auto inner = stack.find("inner");
  const auto outer = stack.find("outer");
  EXPECT_TRUE(inner != std::string::npos && outer != std::string::npos && inner < outer) << stack;
  EXPECT_NE(stack.find(":2:"), std::string::npos) << stack;
  EXPECT_NE(stack.find(":5:3"), std::string::npos) << stack;
  EXPECT_NE(stack.find(":7:1"), std::string::npos) << stack;
}

TEST_F(ErrorPositions, InAnErrorsOwnStackAreTheUsersToo) {
  const auto result = RunOne(Job("s", "\nreturn new Error('x').stack"));
  ASSERT_TRUE(IsOk(result));
  const auto stack = result.value().get<std::string>();
  EXPECT_TRUE(stack.starts_with("Error: x")) << stack;
  EXPECT_NE(stack.find(":2:8"), std::string::npos) << stack;
}

TEST_F(Errors, NeverShowAHostPath) {
  std::vector<Job> jobs = {Job("throw", "throw new Error('x')"),
                           Job("compile", "let ="),
                           Job("eval", "eval('nope(')"),
                           Job("function", "new Function('throw 1; nope(')"),
                           Job("async", "await null;throw new Error('y')"),
                           Job("import", "await import('./x.js')"),
                           Job("call", "await dataProxy.request(1)"),
                           Job("sort", "[1,2].sort(()=>{throw new Error('cb')})"),
                           Job("proxy", "Object.keys(new Proxy({},{ownKeys:1}))"),
                           Job("module", "throw new Error('m')"),
                           Job("json", "JSON.parse('{')")};
  jobs[9].Mode("module");
  const auto report = Run(jobs);
  for (const auto& job : jobs) {
    const auto& result = report.At(job.id());
    EXPECT_FALSE(result.ok()) << job.id();
    for (const char* trace :
         {"/work", "/tmp", "/home", "/usr", "/root", "node:", "file:", "node_modules", ".cc", "prelude"}) {
      EXPECT_EQ(result.line().find(trace), std::string::npos) << trace << " in " << Shown(result);
    }
  }
}

TEST_F(Errors, OfEvalFunctionAndJsonAreRuntimeThoughTheyAreSyntaxErrors) {
  const auto report = Run({Job("eval", "eval('nope(')"), Job("function", "new Function('nope(')"),
                           Job("json", "JSON.parse('{')"), Job("regexp", "new RegExp('(')")});
  for (const auto& [id, result] : report.results) {
    EXPECT_TRUE(IsError(result, "RUNTIME")) << id;
    EXPECT_EQ(result.Error("name"), "SyntaxError") << id;
  }
}

TEST_F(Errors, ThrownNonErrorsStillReadWell) {
  const auto report = Run({Job("string", "throw 'plain text'"), Job("number", "throw 42"),
                           Job("null", "throw null"), Job("undefined", "throw undefined"),
                           Job("object", "throw {a:1}"), Job("symbol", "throw Symbol('s')"),
                           Job("bigint", "throw 10n"), Job("function", "throw function named(){}"),
                           Job("reject", "return Promise.reject('rejected text')")});
  for (const auto& [id, result] : report.results) {
    EXPECT_TRUE(IsError(result, "RUNTIME")) << id;
    EXPECT_FALSE(result.message().empty()) << id;
    EXPECT_TRUE(result.Error("name").is_string()) << id;
  }
  EXPECT_NE(report.At("string").message().find("plain text"), std::string::npos);
  EXPECT_NE(report.At("number").message().find("42"), std::string::npos);
  EXPECT_NE(report.At("null").message().find("null"), std::string::npos);
  EXPECT_NE(report.At("reject").message().find("rejected text"), std::string::npos);
}

TEST_F(Errors, HugeMessagesAreCutAtSixteenKibibytes) {
  const auto report =
      Run({Job("ascii", "throw new Error('x'.repeat(1e7))"),
           Job("wide", "throw new Error('\u00e9'.repeat(1e6))"), Job("string", "throw 'y'.repeat(1e7)")});
  for (const auto& [id, result] : report.results) {
    EXPECT_TRUE(IsError(result, "RUNTIME")) << id;
    EXPECT_LE(result.message().size(), 16u * 1024) << id;
    EXPECT_GE(result.message().size(), 8u * 1024) << id;  // V8 itself cuts a thrown string at 10,000
    EXPECT_LE(result.line().size(), 80u * 1024) << id;
  }
}

TEST_F(Errors, ASubclassKeepsItsName) {
  const auto result = RunOne(Job(
      "c",
      "class MyError extends Error{constructor(m){super(m);this.name='MyError'}}throw new MyError('own')"));
  EXPECT_TRUE(IsError(result, "RUNTIME"));
  EXPECT_EQ(result.Error("name"), "MyError");
  EXPECT_NE(result.message().find("own"), std::string::npos);
}

TEST_F(Errors, OfConversionAreValidationsOfTheProgram) {
  const auto report = Run({Job("cycle", "const o={};o.o=o;return o"), Job("bigint", "return 1n"),
                           Job("getter", "return {get x(){throw new Error('from the getter')}}"),
                           Job("toJSON", "return {toJSON(){throw 7}}")});
  for (const auto& [id, result] : report.results) {
    EXPECT_TRUE(IsError(result, "VALIDATION")) << id;
    EXPECT_EQ(result.Error("fault"), "program") << id;
    EXPECT_EQ(result.Error("started"), true) << id;
  }
  EXPECT_NE(report.At("getter").message().find("from the getter"), std::string::npos);
}

TEST_F(Errors, HaveEveryFieldOfTheContract) {
  const auto report =
      Run({Job("runtime", "throw new Error('x')"), Job("timeout", "for(;;);").Limit("timeoutMs", 50)});
  for (const char* field : {"code", "limit", "fault", "started", "retryable", "message", "name"}) {
    EXPECT_TRUE(report.At("runtime").Field("error").contains(field)) << field;
    EXPECT_TRUE(report.At("timeout").Field("error").contains(field)) << field;
  }
  for (const char* field : {"stack", "line", "column"}) {
    EXPECT_TRUE(report.At("runtime").Field("error").contains(field)) << field;
    EXPECT_FALSE(report.At("timeout").Field("error").contains(field)) << field;
  }
}

}  // namespace
}  // namespace skerry::testing
