// Modes, environment, result and the end of a job.
#include <gtest/gtest.h>

#include <string>

#include "worker/engine/host/huge_text.h"
#include "worker/engine/testing/forked_run.h"

namespace skerry::engine {
namespace {

Ending RunMode(Mode mode, std::string code, std::string_view input = "") {
  ForkedRun run(std::move(code));
  run.program.mode = mode;
  run.program.input = input;
  return run.Go();
}

TEST(Function, ReturnsItsValueAsJson) {
  EXPECT_EQ(RunCode("return {a: [1, 'two', null], b: undefined}").outcome.value, R"({"a":[1,"two",null]})");
}

TEST(Function, ReadsItsInputAndAwaits) {
  EXPECT_EQ(RunMode(Mode::kFunction, "await null; return input.x + 1", R"({"x":41})").outcome.value, "42");
}

TEST(Function, WithoutInputHasUndefined) {
  EXPECT_EQ(RunCode("return typeof input").outcome.value, "\"undefined\"");
}

TEST(Function, SloppyThisIsTheGlobal) {
  EXPECT_EQ(RunCode("return this === globalThis").outcome.value, "true");
}

TEST(Script, ItsCompletionValueIsTheValue) {
  EXPECT_EQ(RunMode(Mode::kScript, "var a = 20; a + 22").outcome.value, "42");
  EXPECT_EQ(RunMode(Mode::kScript, "if (true) { 'from a block' }").outcome.value, "\"from a block\"");
}

TEST(Script, APromiseAsCompletionValueIsFollowed) {
  EXPECT_EQ(RunMode(Mode::kScript, "(async () => 7)()").outcome.value, "7");
  EXPECT_EQ(RunMode(Mode::kScript, "Promise.reject(new Error('no'))").Verdict(), "RUNTIME");
}

TEST(Script, IsSloppyAndMayShadowBindings) {
  EXPECT_EQ(RunMode(Mode::kScript, "leaked = 1; const console = 5, input = 2; leaked + console + input")
                .outcome.value,
            "8");
}

TEST(Module, CallsItsDefaultExportWithTheInput) {
  EXPECT_EQ(RunMode(Mode::kModule, "export default async (i) => i.x * 2", R"({"x":21})").outcome.value, "42");
}

TEST(Module, CallsItsHandlerIfItHasNoDefault) {
  EXPECT_EQ(RunMode(Mode::kModule, "export function handler(i) { return [this === undefined, i] }", "1")
                .outcome.value,
            "[true,1]");
}

TEST(Module, TheDefaultExportGoesBeforeTheHandler) {
  EXPECT_EQ(RunMode(Mode::kModule, "export const handler = () => 'handler'; export default () => 'default'")
                .outcome.value,
            "\"default\"");
}

TEST(Modules, OneThatExportsNothingToCallIsToldSo) {
  const Ending ending = RunMode(Mode::kModule, "export const unrelated = 1;");
  ASSERT_TRUE(ending.outcome.error) << ending.Describe();
  EXPECT_EQ(ending.outcome.error->code, Code::kRuntime);
  EXPECT_EQ(ending.outcome.error->message, "the module exports neither a default nor a handler");
}

TEST(Module, AnExportThatIsNoFunctionIsTheValue) {
  EXPECT_EQ(RunMode(Mode::kModule, "export default {a: 1}").outcome.value, R"({"a":1})");
}

TEST(Module, AwaitsAtItsTopLevelHostCallsIncluded) {
  EXPECT_EQ(RunMode(Mode::kModule, "const r = await dataProxy.request('m'); export default r").outcome.value,
            "\"answer\"");
}

TEST(Module, RefusesImportsAtTheirPosition) {
  const Ending ending = RunMode(Mode::kModule, "const a = 1;\n import x from 'fs';\nexport default a");
  EXPECT_EQ(ending.Verdict(), "COMPILE");
  EXPECT_NE(ending.outcome.error->message.find("'fs'"), std::string::npos);
  EXPECT_EQ(ending.outcome.error->position.line, 2u);
}

TEST(Environment, HoldsWhatIsPromisedAndNothingElse) {
  EXPECT_EQ(
      RunCode(
          "return "
          "['fetch','process','require','setTimeout','SharedArrayBuffer','WebAssembly','gc','queueMicrotask']"
          ".filter(name => typeof globalThis[name] !== 'undefined' || name in globalThis)")
          .outcome.value,
      "[]");
  EXPECT_EQ(
      RunCode("return [typeof Atomics.wait, typeof Atomics.waitAsync, typeof Atomics.add]").outcome.value,
      R"(["undefined","undefined","function"])");
  EXPECT_EQ(RunCode("return new Function('return typeof process')()").outcome.value, "\"undefined\"");
  EXPECT_EQ(RunCode("return Object.keys(console)").outcome.value,
            R"(["log","info","debug","warn","error","assert"])");
}

TEST(Environment, AskedForWebAssemblyDoesNotBringSharedArrayBufferBack) {
  ForkedRun run(
      "const { buffer } = new WebAssembly.Memory({ initial: 1, maximum: 2, shared: true });"
      "return [buffer.constructor === Object, "
      "Object.getOwnPropertyNames(Object.getPrototypeOf(buffer)).includes('constructor')]");
  run.program.wasm = true;
  EXPECT_EQ(run.Go().outcome.value, "[true,false]");
}

TEST(Environment, BindingsAreFrozenAndUnboundCallsWork) {
  EXPECT_EQ(
      RunCode(
          "return [dataProxy, console, reportStatus, console.log, dataProxy.request].map(Object.isFrozen)")
          .outcome.value,
      "[true,true,true,true,true]");
  EXPECT_EQ(RunCode("return Object.entries(dataProxy).map(([k, v]) => k + typeof v)").outcome.value,
            R"(["requestfunction"])");
  EXPECT_EQ(RunCode("const f = dataProxy.request; return await f('x')").outcome.value, "\"answer\"");
  EXPECT_EQ(RunCode("return [console.log, reportStatus, dataProxy.request].map(f => { try { new f } catch "
                    "(e) { return e.name } })")
                .outcome.value,
            R"(["TypeError","TypeError","TypeError"])");
}

TEST(Environment, IsInUtcAndEnglish) {
  EXPECT_EQ(RunCode("return [new Date(0).getHours(), Intl.DateTimeFormat().resolvedOptions().timeZone, "
                    "(1234.5).toLocaleString(),"
                    " Intl.NumberFormat().resolvedOptions().locale, new Date(0).toLocaleDateString()]")
                .outcome.value,
            R"([0,"UTC","1,234.5","en-US","1/1/1970"])");
}

TEST(Environment, DynamicImportRejectsAndCanBeCaught) {
  EXPECT_EQ(RunCode("try { await import('fs') } catch (e) { return e instanceof TypeError }").outcome.value,
            "true");
  EXPECT_EQ(RunCode("await import('data:text/javascript,1')").Verdict(), "RUNTIME");
}

TEST(Environment, WebAssemblyIsThereOnlyForThoseWhoAsk) {
  ForkedRun run(
      "return [typeof WebAssembly, new WebAssembly.Module(new Uint8Array([0,97,115,109,1,0,0,0])) instanceof "
      "WebAssembly.Module]");
  run.program.wasm = true;
  EXPECT_EQ(run.Go().outcome.value, R"(["object",true])");
  run.program.wasm = false;
  EXPECT_EQ(run.Go().Verdict(), "RUNTIME");
}

TEST(Environment, NothingOfOneJobIsThereForTheNext) {
  const std::string code =
      "const seen = ['mark' in globalThis, Math.mark, [].mark, Symbol.for('k') in globalThis];"
      "globalThis.mark = Math.mark = Array.prototype.mark = globalThis[Symbol.for('k')] = 1; return seen";
  EXPECT_EQ(RunCode(code).outcome.value, "[false,null,null,false]");
  EXPECT_EQ(RunCode(code).outcome.value, "[false,null,null,false]");
}

TEST(Random, DependsOnTheSeedAlone) {
  const auto draw = [](std::uint64_t seed) {
    ForkedRun run("return [Math.random(), Math.random(), Math.random()]");
    run.program.seed = seed;
    return run.Go().outcome.value;
  };
  EXPECT_EQ(draw(1), draw(1));
  EXPECT_NE(draw(1), draw(2));
  EXPECT_NE(draw(1), draw(1ull << 63));
}

TEST(Random, LooksLikeTheBuiltInAndIsUniform) {
  EXPECT_EQ(RunCode("const d = Object.getOwnPropertyDescriptor(Math, 'random');"
                    "return [d.writable, d.enumerable, d.configurable, Math.random.name, Math.random.length, "
                    "'prototype' in Math.random]")
                .outcome.value,
            R"([true,false,true,"random",0,false])");
  EXPECT_EQ(RunCode("const n = 2e5, bins = new Array(20).fill(0); let min = 1, max = 0;"
                    "for (let i = 0; i < n; i++) { const r = Math.random(); bins[Math.floor(r * 20)]++; min "
                    "= Math.min(min, r); max = Math.max(max, r) }"
                    "return [min >= 0 && min < 0.001, max < 1 && max > 0.999, bins.every(b => Math.abs(b - n "
                    "/ 20) < 600)]")
                .outcome.value,
            "[true,true,true]");
}

TEST(Result, FollowsJsonStringify) {
  EXPECT_EQ(RunCode("return").outcome.value, "null");
  EXPECT_EQ(RunCode("return () => 1").outcome.value, "null");
  EXPECT_EQ(RunCode("return Symbol('s')").outcome.value, "null");
  EXPECT_EQ(RunCode("return 'undefined'").outcome.value, "\"undefined\"");
  EXPECT_EQ(RunCode("return {toJSON() { return undefined }}").outcome.value, "null");
  EXPECT_EQ(RunCode("class A { toJSON() { return 'inherited' } } return new A").outcome.value,
            "\"inherited\"");
  EXPECT_EQ(RunCode("return [NaN, -0, new Date(0), '\\ud800']").outcome.value,
            R"([null,0,"1970-01-01T00:00:00.000Z","\ud800"])");
}

TEST(Result, IgnoresAPatchedStringify) {
  EXPECT_EQ(RunCode("JSON.stringify = () => 'mine'; return {a: 1}").outcome.value, R"({"a":1})");
}

TEST(Result, WhatConversionThrowsIsAValidationErrorOfTheProgram) {
  for (const char* code : {"const o = {}; o.o = o; return o", "return 1n",
                           "return {get a() { throw new Error('mine') }}", "return {toJSON() { throw 1 }}"}) {
    const Ending ending = RunCode(code);
    ASSERT_EQ(ending.Verdict(), "VALIDATION") << code;
    EXPECT_EQ(ending.outcome.error->fault, Fault::kProgram) << code;
    EXPECT_EQ(ending.outcome.error->name, "SandboxValidationError");
    EXPECT_EQ(ending.outcome.error->limit, "");
  }
  EXPECT_NE(RunCode("return {get a() { throw new Error('mine') }}").outcome.error->message.find("mine"),
            std::string::npos);
}

TEST(Result, ExactlyMaxResultBytesPassesAndOneMoreDoesNot) {
  ForkedRun run("return 'é'.repeat(49)");  // 98 bytes and two quotes
  run.With(LimitId::kMaxResultBytes, 100);
  const Ending exact = run.Go();
  EXPECT_TRUE(exact.ok()) << exact.Describe();
  EXPECT_EQ(exact.outcome.usage.result_bytes, 100u);
  run.With(LimitId::kMaxResultBytes, 99);
  const Ending over = run.Go();
  ASSERT_EQ(over.Verdict(), "VALIDATION");
  EXPECT_EQ(over.outcome.error->limit, "maxResultBytes");
  EXPECT_EQ(over.outcome.error->fault, Fault::kLimit);
}

TEST(Code, ExactlyMaxCodeBytesPassesAndOneMoreIsRefusedBeforeItRuns) {
  ForkedRun run("console.log('ran') //é");
  run.With(LimitId::kMaxCodeBytes, run.code.size());
  EXPECT_EQ(run.Go().events.size(), 1u);
  run.With(LimitId::kMaxCodeBytes, run.code.size() - 1);
  const Ending over = run.Go();
  ASSERT_EQ(over.Verdict(), "VALIDATION");
  EXPECT_EQ(over.outcome.error->limit, "maxCodeBytes");
  EXPECT_EQ(over.outcome.error->fault, Fault::kClient);
  EXPECT_TRUE(over.events.empty());
}

TEST(Input, ThatIsNoJsonIsTheClientsFault) {
  const Ending ending = RunMode(Mode::kFunction, "return 1", "{\"x\":");
  ASSERT_EQ(ending.Verdict(), "VALIDATION");
  EXPECT_EQ(ending.outcome.error->fault, Fault::kClient);
  EXPECT_EQ(ending.outcome.error->message.rfind("input is not valid JSON: ", 0), 0u)
      << ending.outcome.error->message;
}

TEST(Input, DeepAndPrototypeNamedKeysAreJustData) {
  const std::string deep = std::string(20'000, '[') + std::string(20'000, ']');
  EXPECT_EQ(RunMode(Mode::kFunction, "return input.length", deep).outcome.value, "1");
  EXPECT_EQ(RunMode(Mode::kFunction, "return [Object.keys(input), ({}).polluted]",
                    R"({"__proto__":{"polluted":1}})")
                .outcome.value,
            R"([["__proto__"],null])");
}

TEST(End, APromiseThatCanNeverSettleIsSaidAtOnce) {
  const Ending ending = RunCode("await new Promise(() => {})");
  ASSERT_EQ(ending.Verdict(), "RUNTIME");
  EXPECT_NE(ending.outcome.error->message.find("can never settle"), std::string::npos);
  EXPECT_LT(ending.wall_ms, 200);
}

TEST(End, PendingHostCallsAreDropped) {
  ForkedRun run("dataProxy.request('slow'); return 'done'");
  run.answer = [](const SeenCall&) -> HostAnswer { ::abort(); };  // must not be waited for
  const Ending ending = run.Go();
  EXPECT_EQ(ending.outcome.value, "\"done\"") << ending.Describe();
  EXPECT_EQ(ending.calls.size(), 1u);
}

TEST(End, MicrotasksQueuedBeforeTheReturnStillRun) {
  const Ending ending =
      RunCode("Promise.resolve().then(() => {}).then(() => console.log('later')); return 1");
  EXPECT_EQ(ending.outcome.value, "1");
  ASSERT_EQ(ending.events.size(), 1u);
  EXPECT_EQ(ending.events[0].payload, "later");
}

TEST(End, ALoopThatNeverYieldsAfterReturnRunsIntoItsDeadline) {
  ForkedRun run("(async () => { for (;;) await null })(); return 1");
  run.deadline = Millis(300);
  EXPECT_EQ(run.Go().Verdict(), "TIMEOUT");
}

TEST(End, UnhandledRejectionsBecomeOneErrorEventEach) {
  const Ending ending = RunCode(
      "Promise.reject(new Error('one')); Promise.reject(2);"
      "const late = Promise.reject(3); await null; late.catch(() => {}); return 1");
  EXPECT_EQ(ending.outcome.value, "1");
  ASSERT_EQ(ending.events.size(), 2u);
  EXPECT_EQ(ending.events[0].level, Level::kError);
  EXPECT_EQ(ending.events[0].payload.rfind("Unhandled rejection: Error: one\n    at job.js:1:16", 0), 0u)
      << ending.events[0].payload;
  EXPECT_EQ(ending.events[1].payload, "Unhandled rejection: 2");
}

TEST(End, TheJobsOwnRejectionIsItsErrorAndNoEvent) {
  const Ending ending = RunCode("throw new Error('mine')");
  EXPECT_EQ(ending.Verdict(), "RUNTIME");
  EXPECT_TRUE(ending.events.empty());
}

TEST(End, ManyUnhandledRejectionsAreBoundedAndCounted) {
  const Ending ending = RunCode("for (let i = 0; i < 5000; i++) Promise.reject(i); return 4");
  EXPECT_EQ(ending.outcome.value, "4");
  EXPECT_EQ(ending.outcome.usage.console_events, 1000u);
  EXPECT_EQ(ending.outcome.usage.dropped_events, 4000u);
}

TEST(End, FinalizersNeverRun) {
  EXPECT_EQ(
      RunCode("const r = new FinalizationRegistry(() => { for (;;); });"
              "for (let i = 0; i < 1e5; i++) r.register({p: new Array(50).fill(i)}, i); await null; return 1")
          .outcome.value,
      "1");
}

TEST(HugeText, ProgramsRunOnWholeHugePagesOrOnTheFileAsBefore) {
  const std::size_t moved = MoveTextToHugePages();
  EXPECT_EQ(moved % (2u << 20), 0u);
  if (moved == 0) GTEST_SKIP() << "this kernel gives no huge pages";
  EXPECT_GT(moved, 16u << 20) << "V8's code alone is more than that";
  EXPECT_EQ(RunCode("return [3, 1, 2].sort().map((x) => x * 2)").outcome.value, "[2,4,6]");
}

}  // namespace
}  // namespace skerry::engine
