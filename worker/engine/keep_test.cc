// Programs that are kept evaluated, and those that cannot be. That a kept one ends as one from the beginning
// does is keep_equals_test.cc's.
#include <gtest/gtest.h>

#include "worker/engine/testing/forked_run.h"

namespace skerry::engine {
namespace {

ForkedRun Kept(Mode mode, std::string code, Seeding seeding = Seeding::kPerRun) {
  ForkedRun run(std::move(code));
  run.program.mode = mode;
  run.program.input = R"({"x":20})";
  run.kept = seeding;
  return run;
}

/// How keeping a module of this code ends.
std::string EndOf(std::string code) {
  return Kept(Mode::kModule, std::move(code) + "\nexport default () => 1").Go().Verdict();
}

std::string NotKept(Unkeepable reason) {
  return "not kept: " + std::string(NameOf(reason));
}

TEST(Kept, AModuleIsEvaluatedOnceAndItsHandlerFindsThatState) {
  const Ending ending =
      Kept(Mode::kModule,
           "let n = 0; for (let i = 0; i < 1e5; i++) n += i; export default (input) => n + input.x")
          .Go();
  EXPECT_EQ(ending.outcome.value, "4999950020") << ending.Describe();
}

TEST(Kept, AFunctionAndAScriptSeeTheInputOfTheirOwnRun) {
  EXPECT_EQ(Kept(Mode::kFunction, "await null; return input.x + 1").Go().outcome.value, "21");
  EXPECT_EQ(Kept(Mode::kScript, "var y = input.x; y + 2").Go().outcome.value, "22");
}

TEST(Kept, WhatOnlyRunsLaterIsNoReasonNotToKeepAProgram) {
  EXPECT_TRUE(Kept(Mode::kFunction, "console.log(1); return [Date.now(), Math.random(), input]").Go().ok());
  EXPECT_TRUE(Kept(Mode::kModule,
                   "export default async () => { console.log(1); await dataProxy.request('m');"
                   "return [new Date(), Math.random(), input, new WeakRef({})] }")
                  .Go()
                  .ok());
}

TEST(Kept, ACleanModuleCanDoMuchWhileItIsEvaluated) {
  EXPECT_EQ(
      EndOf("const m = new Map([[1, { a: [/x/g, 'y'.localeCompare('z')] }]]); class A { static b = 1n };"
            "await null; await Promise.all([1, Promise.resolve(2)]); Promise.reject(1).catch(() => {});"
            "new Function('return 1')(); eval('2'); JSON.parse('[1]'); new Date(5).toISOString();"
            "try { null.x } catch (e) { e.stack } new Promise(() => {}); 'input' in globalThis;"
            "new Uint8Array(1e5).fill(3); Object.getOwnPropertyNames(globalThis); typeof require"),
      "ok");
}

TEST(Unkeepable, WhateverFailsIsAnOrdinaryRunsToTell) {
  const std::string fails = NotKept(Unkeepable::kFails);
  EXPECT_EQ(EndOf("throw new Error('mine')"), fails);
  EXPECT_EQ(EndOf("await Promise.reject(1)"), fails);
  EXPECT_EQ(EndOf("this is no program"), fails);
  EXPECT_EQ(EndOf("import 'fs'"), fails);
  EXPECT_EQ(EndOf("await import('fs')"), fails);
  EXPECT_EQ(EndOf("(function f() { f() })()"), fails);
  EXPECT_EQ(Kept(Mode::kFunction, "return )").Go().Verdict(), fails);
  EXPECT_EQ(Kept(Mode::kScript, "let a; let a").Go().Verdict(), fails);
}

TEST(Unkeepable, CodeOfExactlyMaxCodeBytesIsKeptAndOneMoreIsNot) {
  ForkedRun run = Kept(Mode::kFunction, "return 1 //é");
  EXPECT_EQ(run.With(LimitId::kMaxCodeBytes, run.code.size()).Go().Verdict(), "ok");
  EXPECT_EQ(run.With(LimitId::kMaxCodeBytes, run.code.size() - 1).Go().Verdict(),
            NotKept(Unkeepable::kFails));
}

TEST(Unkeepable, AnyTouchOfTheInputIsFoundOut) {
  for (const char* code :
       {"const x = input", "typeof input", "globalThis.input?.x", "Reflect.get(globalThis, 'input')",
        "const { input: y } = globalThis", "Object.getOwnPropertyDescriptor(globalThis, 'input')",
        "globalThis.input = 5", "input = 5", "Object.defineProperty(globalThis, 'input', { value: 5 })",
        "Object.defineProperty(globalThis, 'input', { get() { return 5 } })",
        "Object.defineProperty(globalThis, 'input', { enumerable: true })", "delete globalThis.input",
        "delete globalThis.input; globalThis.input = undefined", "(0, eval)('var input = 1')",
        "try { input } catch {}", "for (;;) { try { input } catch {} finally { continue } }",
        "const later = () => input; later()"}) {
    EXPECT_EQ(EndOf(code), NotKept(Unkeepable::kTouchesInput)) << code;
  }
}

TEST(Unkeepable, WhoeverLooksAtEveryGlobalLooksAtTheInputToo) {
  for (const char* code : {"Object.getOwnPropertyDescriptors(globalThis)", "Object.freeze(globalThis)",
                           "Object.seal(globalThis)"}) {
    EXPECT_TRUE(EndOf(code).starts_with("not kept: it ")) << code;
  }
}

TEST(Unkeepable, EventsAndHostCallsAreEachRunsOwn) {
  EXPECT_EQ(EndOf("console.log(1)"), NotKept(Unkeepable::kReports));
  EXPECT_EQ(EndOf("console.assert(false)"), NotKept(Unkeepable::kReports));
  EXPECT_EQ(EndOf("reportStatus(1)"), NotKept(Unkeepable::kReports));
  EXPECT_EQ(EndOf("await null; for (;;) reportStatus(1)"), NotKept(Unkeepable::kReports));
  EXPECT_EQ(EndOf("await dataProxy.request('m')"), NotKept(Unkeepable::kCallsHost));
  EXPECT_EQ(EndOf("dataProxy.request('m')"), NotKept(Unkeepable::kCallsHost));
}

TEST(Unkeepable, WhatACapLeavesOutCountsAsSaid) {
  const auto end_with = [](LimitId limit, std::string code) {
    ForkedRun run = Kept(Mode::kModule, std::move(code) + "\nexport default 1");
    return run.With(limit, 0).Go().Verdict();
  };
  EXPECT_EQ(end_with(LimitId::kMaxConsoleEvents, "console.log(1)"), NotKept(Unkeepable::kReports));
  EXPECT_EQ(end_with(LimitId::kMaxStatusEvents, "reportStatus(1)"), NotKept(Unkeepable::kReports));
  EXPECT_EQ(end_with(LimitId::kMaxEventsTotalBytes, "console.log('x')"), NotKept(Unkeepable::kReports));
  EXPECT_EQ(end_with(LimitId::kMaxDataRequests, "dataProxy.request('m').catch(() => {})"),
            NotKept(Unkeepable::kCallsHost));
  EXPECT_EQ(end_with(LimitId::kMaxParamsBytes, "dataProxy.request('m').catch(() => {})"),
            NotKept(Unkeepable::kCallsHost));
}

TEST(Unkeepable, RandomNumbersAreDrawnByEachRunUnlessTheSeedIsFixed) {
  const std::string code = "const r = Math.random(); export default () => [r, Math.random()]";
  EXPECT_EQ(Kept(Mode::kModule, code).Go().Verdict(), NotKept(Unkeepable::kDrawsRandom));
  EXPECT_EQ(Kept(Mode::kModule, code, Seeding::kFixed).Go().Verdict(), "ok");
  EXPECT_EQ(EndOf("const { random } = Math; random()"), NotKept(Unkeepable::kDrawsRandom));
}

TEST(Unkeepable, TheClockIsReadByEachRunUnlessItStandsStill) {
  for (const char* code : {"const t = Date.now()", "new Date()", "Date()", "Temporal.Now.instant()",
                           "new Intl.DateTimeFormat().format()"}) {
    EXPECT_EQ(EndOf(code), NotKept(Unkeepable::kReadsClock)) << code;
  }
  ForkedRun frozen = Kept(Mode::kModule, "const t = Date.now(); export default () => [t, Date.now()]");
  frozen.program.clock_ms = 5;
  EXPECT_EQ(frozen.Go().outcome.value, "[5,5]");
}

TEST(Unkeepable, AnEvaluationThatWaitsForEverIsAnOrdinaryRunsToTell) {
  EXPECT_EQ(EndOf("await new Promise(() => {})"), NotKept(Unkeepable::kNeverSettles));
}

TEST(Unkeepable, ARejectionThatNobodyHandlesIsAnEventOfEachRun) {
  EXPECT_EQ(EndOf("Promise.reject(1)"), NotKept(Unkeepable::kLeavesRejection));
  EXPECT_EQ(EndOf("(async () => { throw 1 })()"), NotKept(Unkeepable::kLeavesRejection));
  ForkedRun run = Kept(Mode::kModule, "Promise.reject(1); export default 1");
  EXPECT_EQ(run.With(LimitId::kMaxConsoleEvents, 0).Go().Verdict(), NotKept(Unkeepable::kLeavesRejection));
}

TEST(Unkeepable, WhatTheCollectorDecidesIsNotKept) {
  EXPECT_EQ(EndOf("const w = new WeakRef({})"), NotKept(Unkeepable::kHoldsWeakly));
  EXPECT_EQ(EndOf("new globalThis['Finalization' + 'Registry'](() => {})"),
            NotKept(Unkeepable::kHoldsWeakly));
  EXPECT_EQ(EndOf("new WeakMap([[{}, 1]]); new WeakSet()"), "ok");
}

TEST(Unkeepable, EveryReasonHasAName) {
  for (int i = 0; i < kUnkeepableCount; ++i)
    EXPECT_NE(NameOf(static_cast<Unkeepable>(i)), NameOf(static_cast<Unkeepable>(255))) << i;
  EXPECT_EQ(NameOf(static_cast<Unkeepable>(kUnkeepableCount)), NameOf(static_cast<Unkeepable>(255)));
}

TEST(KeptMemory, WhatWasEvaluatedCountsInEachRunsBudget) {
  const auto end_of = [](int held_mb, int more_mb, bool kept) {
    ForkedRun run("const held = new Uint8Array(" + std::to_string(held_mb) + " << 20).fill(1);" +
                  "export default () => held[0] + new Uint8Array(" + std::to_string(more_mb) +
                  " << 20).fill(1).length");
    run.program.mode = Mode::kModule;
    if (kept) run.kept = Seeding::kPerRun;
    return run.With(LimitId::kMemoryMb, 64).Go().Verdict();
  };
  for (const bool kept : {false, true}) {
    EXPECT_EQ(end_of(40, 10, kept), "ok") << kept;
    EXPECT_EQ(end_of(40, 40, kept), "OOM") << kept;
    EXPECT_EQ(end_of(10, 40, kept), "ok") << kept;
  }
}

TEST(KeptMemory, AProgramThatNeedsTooMuchWhileItIsEvaluatedEndsAsOneOutOfMemory) {
  for (const char* code : {"const a = []; for (;;) a.push(new Array(1000).fill(1.5))",
                           "const a = []; for (;;) a.push(new Uint8Array(1 << 20).fill(1))",
                           "const m = new Map(); for (let i = 0;; i++) m.set(i, {})"}) {
    ForkedRun run = Kept(Mode::kModule, std::string(code) + "\nexport default 1");
    EXPECT_EQ(run.With(LimitId::kMemoryMb, 32).Go().Verdict(), "OOM") << code;
  }
}

TEST(KeptMemory, HeapAndBuffersOfARunAreBoundedAsEver) {
  for (const char* code : {"const a = []; for (;;) a.push(new Array(1000).fill(1.5))",
                           "const a = []; for (;;) a.push(new Uint8Array(1 << 20).fill(1))"}) {
    ForkedRun run = Kept(Mode::kFunction, code);
    const Ending ending = run.With(LimitId::kMemoryMb, 32).Go();
    EXPECT_EQ(ending.Verdict(), "OOM") << code;
  }
}

}  // namespace
}  // namespace skerry::engine
