// Console and status events as the port sees them.
#include <gtest/gtest.h>

#include <string>

#include "worker/engine/testing/forked_run.h"

namespace skerry::engine {
namespace {

/// The text of the only event of a program.
std::string Logged(const std::string& arguments) {
  const Ending ending = RunCode("console.log(" + arguments + ")");
  EXPECT_TRUE(ending.ok()) << ending.Describe();
  EXPECT_EQ(ending.events.size(), 1u);
  return ending.events.empty() ? "" : ending.events[0].payload;
}

TEST(Console, ShowsPrimitives) {
  EXPECT_EQ(Logged("'bare', ['quoted', \"it's\"], 1.5, -0, 10n, true, null, undefined, Symbol('s')"),
            R"(bare [ 'quoted', 'it\'s' ] 1.5 -0 10n true null undefined Symbol(s))");
  EXPECT_EQ(Logged(""), "");
  EXPECT_EQ(Logged("'\\ud800'"), "\xEF\xBF\xBD");
}

TEST(Console, ShowsObjectsMuchAsNodeDoes) {
  EXPECT_EQ(Logged("{a: 1, b: [1, 2], 'c-d': {}}, [], [1,,3], {0: 'x'}"),
            "{ a: 1, b: [ 1, 2 ], 'c-d': {} } [] [ 1, <1 empty>, 3 ] { '0': 'x' }");
  EXPECT_EQ(
      Logged("new Map([['k', {v: 1}]]), new Set([1]), new (class Point { x = 1 }), Object.create(null)"),
      "Map(1) { 'k' => { v: 1 } } Set(1) { 1 } Point { x: 1 } [Object: null prototype] {}");
  EXPECT_EQ(Logged("() => 1, function named() {}, async () => 1, class A {}"),
            "[Function (anonymous)] [Function: named] [AsyncFunction (anonymous)] [Function: A]");
  EXPECT_EQ(Logged("new Date(0), /a\\/b/gi, new Uint8Array(2), Promise.resolve(4), new Promise(() => {}), "
                   "Object(1), Object('s')"),
            "1970-01-01T00:00:00.000Z /a\\/b/gi Uint8Array(2) [ 0, 0 ] Promise { 4 } Promise { <pending> } "
            "[Number: 1] [String: 's']");
}

TEST(Console, ShowsErrorsWithStackAndCause) {
  EXPECT_EQ(Logged("new RangeError('r', {cause: new Error('c')})"),
            "RangeError: r\n    at job.js:1:13 { [cause]: Error: c\n    at job.js:1:41 }");
}

TEST(Console, BoundsDepthItemsAndCycles) {
  EXPECT_EQ(Logged("{a: {b: {c: {d: {e: 1}}}}}"), "{ a: { b: { c: { d: [Object] } } } }");
  EXPECT_EQ(Logged("(() => { const o = {}; o.self = o; return o })()"), "{ self: [Circular] }");
  const std::string many = Logged("Array.from({length: 150}, (_, i) => i)");
  EXPECT_NE(many.find("99, ... 50 more ]"), std::string::npos) << many;
  EXPECT_LT(Logged("(() => { let o = ['x']; for (let i = 0; i < 50; i++) o = [o, o]; return o })()").size(),
            4000u);
  EXPECT_EQ(Logged("new Array(4e9)").substr(0, 30), "[ <100 empty>, ... 3999999900 ");
}

TEST(Console, SubstitutesAsConsolesDo) {
  EXPECT_EQ(Logged("'%s is %d, %i, %f, %j %o %c%% %x', 'Bob', 4.5, 4.9, '2.5', {a: 1}, [1], 'css', 'more'"),
            "Bob is 4.5, 4, 2.5, { a: 1 } [ 1 ] % %x more");
  EXPECT_EQ(Logged("'100%'"), "100%");
  EXPECT_EQ(Logged("'%s and %s', 1"), "1 and %s");
}

TEST(Console, FormattingRunsNoUserCode) {
  ForkedRun run(
      "const spin = () => { for (;;); };"
      "const trap = new Proxy({}, {get: spin, ownKeys: spin, getPrototypeOf: spin, getOwnPropertyDescriptor: "
      "spin, has: spin});"
      "Object.defineProperty(Array.prototype, '1', {get: spin, set: spin, configurable: true});"
      "class Evil { get x() { spin() } toString() { spin() } toJSON() { spin() } [Symbol.toPrimitive]() { "
      "spin() } get [Symbol.toStringTag]() { spin() } }"
      "const own = Object.defineProperty({}, 'g', {get: spin, enumerable: true});"
      "const holes = [1,,3]; const bad = new Error('e'); Object.defineProperty(bad, 'name', {get: spin}); "
      "Object.defineProperty(bad, 'cause', {get: spin});"
      "Error.prepareStackTrace = spin; Object.defineProperty(spin, 'name', {get: spin});"
      "Object.defineProperty(Object.prototype, 'value', {get: spin, configurable: true});"  // last:
                                                                                            // descriptors
                                                                                            // inherit it
      "console.log(trap, [trap], new Evil, own, holes, bad, spin, new Map([[trap, trap]]), "
      "Object.create(trap));"
      "console.log('%s %d %i %f %j %o', new Evil, new Evil, trap, new Evil, new Evil, trap); return 1");
  run.deadline = Millis(2000);
  const Ending ending = run.Go();
  EXPECT_EQ(ending.outcome.value, "1") << ending.Describe();
  ASSERT_EQ(ending.events.size(), 2u);
  EXPECT_EQ(ending.events[0].payload.rfind(
                "[Proxy] [ [Proxy] ] Evil {} { g: [Getter/Setter] } [ 1, <1 empty>, 3 ] ", 0),
            0u)
      << ending.events[0].payload;
  EXPECT_EQ(ending.events[1].payload, "Evil {} NaN NaN NaN Evil {} [Proxy]");
}

TEST(Console, LevelsAndAssert) {
  const Ending ending = RunCode(
      "console.info('i'); console.debug('d'); console.warn('w'); console.error('e');"
      "console.assert(true, 'no'); console.assert(false); console.assert(0, 'x %s', 1); return 1");
  ASSERT_EQ(ending.events.size(), 6u);
  const Level levels[] = {Level::kInfo,  Level::kDebug,  Level::kWarn,
                          Level::kError, Level::kAssert, Level::kAssert};
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(ending.events[i].level, levels[i]) << i;
  EXPECT_EQ(ending.events[4].payload, "Assertion failed");
  EXPECT_EQ(ending.events[5].payload, "Assertion failed: x 1");
}

TEST(Console, AFloodPassesTheCapAndCostsLittle) {
  ForkedRun run("for (let i = 0; i < 2e5; i++) console.log('line ' + i, {i}); return 1");
  run.deadline = Millis(1000);
  const Ending ending = run.Go();
  EXPECT_EQ(ending.outcome.value, "1") << ending.Describe();
  EXPECT_EQ(ending.events.size(), 1000u);
  EXPECT_EQ(ending.events.back().payload, "line 999 { i: 999 }");
  EXPECT_EQ(ending.outcome.usage.dropped_events, 199'000u);
  EXPECT_FALSE(ending.dropped_reports.empty());
}

TEST(Console, LongTextsAreCutAndMarked) {
  ForkedRun run(
      "console.log('é'.repeat(100)); console.log('é'.repeat(32)); console.log(['é'.repeat(100)]); return 1");
  run.With(LimitId::kMaxEventBytes, 65);
  const Ending ending = run.Go();
  ASSERT_EQ(ending.events.size(), 3u);
  EXPECT_TRUE(ending.events[0].truncated);
  EXPECT_EQ(ending.events[0].payload.size(), 64u);
  EXPECT_FALSE(ending.events[1].truncated);
  EXPECT_TRUE(ending.events[2].truncated);
  EXPECT_LE(ending.events[2].payload.size(), 65u);
}

TEST(Console, NearTheEndOfTheStackNothingCrashes) {
  const Ending ending = RunCode(
      "let n = 0; function f() { try { f() } catch { console.log({deep: [n++, new Error('x')]}); throw 1 } }"
      "try { f() } catch {} return n > 0");
  EXPECT_EQ(ending.outcome.value, "true") << ending.Describe();
}

TEST(Status, IsTheJsonOfItsValue) {
  const Ending ending =
      RunCode("reportStatus({step: 1, f() {}}); reportStatus(); reportStatus(() => 1); return 1");
  ASSERT_EQ(ending.events.size(), 3u);
  EXPECT_EQ(ending.events[0].type, EventType::kStatus);
  EXPECT_EQ(ending.events[0].payload, R"({"step":1})");
  EXPECT_EQ(ending.events[1].payload, "null");
  EXPECT_EQ(ending.events[2].payload, "null");
}

TEST(Status, WhatDoesNotConvertThrowsToTheProgram) {
  EXPECT_EQ(RunCode("try { reportStatus(1n) } catch (e) { return e.name }").outcome.value, "\"TypeError\"");
  EXPECT_EQ(RunCode("reportStatus({toJSON() { throw new Error('mine') }})").outcome.error->message, "mine");
}

TEST(Status, PastTheCapNothingIsConverted) {
  ForkedRun run(
      "let converted = 0; const v = {toJSON() { converted++; return 1 }}; for (let i = 0; i < 1500; i++) "
      "reportStatus(v); return converted");
  run.With(LimitId::kMaxStatusEvents, 100);
  const Ending ending = run.Go();
  EXPECT_EQ(ending.outcome.value, "100");
  EXPECT_EQ(ending.events.size(), 100u);
  EXPECT_EQ(ending.outcome.usage.status_events, 100u);
  EXPECT_EQ(ending.outcome.usage.dropped_events, 1400u);
}

TEST(Status, ReentrantReportsCannotPassTheCap) {
  ForkedRun run(
      "const v = {toJSON() { for (let i = 0; i < 5; i++) reportStatus(i); return 'outer' }}; "
      "reportStatus(v); return 1");
  run.With(LimitId::kMaxStatusEvents, 3);
  const Ending ending = run.Go();
  EXPECT_EQ(ending.events.size(), 3u);
  EXPECT_EQ(ending.outcome.usage.dropped_events, 3u);
}

TEST(Console, AnErrorUpToMaxEventBytesIsWholeAndALongerOneIsMarked) {
  constexpr std::size_t kMessage = 20'000;  // over maxErrorBytes, which is for the job's own error
  const Ending whole = RunCode(
      "console.log(new Error('x'.repeat(20000)), 'TAIL'); Promise.reject(new Error('y'.repeat(20000)))");
  ASSERT_EQ(whole.events.size(), 2u) << whole.Describe();
  EXPECT_TRUE(whole.events[0].payload.ends_with("TAIL"));
  EXPECT_GT(whole.events[1].payload.size(), kMessage);
  EXPECT_NE(whole.events[1].payload.find("job.js:1"), std::string::npos);
  for (const SeenEvent& event : whole.events) EXPECT_FALSE(event.truncated);

  const Ending cut =
      RunCode("console.log(new Error('x'.repeat(70000))); Promise.reject(new Error('y'.repeat(70000)))");
  ASSERT_EQ(cut.events.size(), 2u) << cut.Describe();
  for (const SeenEvent& event : cut.events) {
    EXPECT_TRUE(event.truncated);
    EXPECT_EQ(event.payload.size(), 65'536u);
  }
}

}  // namespace
}  // namespace skerry::engine
