// Jobs that share an isolate, each in a context of its own: what of one the next must not find.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

#include "worker/engine/testing/forked_run.h"
#include "worker/engine/testing/run_series.h"

namespace skerry::engine {
namespace {

/// Everything that can be reached from the global, with its descriptors: a text that two equal worlds share.
constexpr const char* kWorld = R"js(
const seen = new Map(); const out = [];
const queue = [globalThis, (async () => {}).constructor, function* () {}.constructor, [][Symbol.iterator](), Symbol];
for (const v of queue) seen.set(v, seen.size);
for (const v of queue) {
  out.push('#' + seen.get(v) + (Object.isExtensible(v) ? '' : '!'));
  const visit = (label, x) => {
    if ((typeof x === 'object' && x !== null) || typeof x === 'function') {
      if (!seen.has(x)) { seen.set(x, seen.size); queue.push(x); }
      out.push(label + ':' + seen.get(x));
    } else out.push(label + '=' + String(x));
  };
  visit('proto', Object.getPrototypeOf(v));
  for (const key of Reflect.ownKeys(v)) {
    const d = Object.getOwnPropertyDescriptor(v, key);
    const flags = [d.writable, d.enumerable, d.configurable].map(Number).join('');
    for (const part of ['value', 'get', 'set']) if (part in d) visit(String(key) + '.' + part + flags, d[part]);
  }
}
return out.join('\n');
)js";

constexpr const char* kVandal = R"js(
globalThis.left = 'behind'; var x = 1; Object.prototype.mark = 1; Array.prototype[Symbol.iterator] = () => 0;
Promise.prototype.then = () => { throw 1 }; Math.random = () => 4; JSON.stringify = () => '"forged"';
Error.stackTraceLimit = 0; Error.prepareStackTrace = () => 'forged'; /(left)/.exec('left'); delete globalThis.Date;
Function.prototype.call = null; globalThis.reportStatus = 1; Object.freeze(Object.prototype);
Intl.NumberFormat.prototype.format = null; String.prototype.at = 1; input.y = 2; Object.setPrototypeOf(globalThis, null);
Symbol.for('left'); (0, eval)('let lexical = 1; const other = 2'); return 1
)js";

SeriesJob Seeded(std::string code, std::uint64_t seed) {
  SeriesJob job(std::move(code));
  job.program.seed = seed;
  return job;
}

TEST(Renew, TheNextJobFindsTheSameWorldAsTheFirst) {
  const std::string fresh = RunSeries({kWorld}).at(0).value;
  ASSERT_GT(fresh.size(), 20'000u);
  SeriesJob vandal(kVandal);
  vandal.input = "{}";
  const auto endings = RunSeries({vandal, kWorld, vandal, kWorld});
  ASSERT_EQ(endings.size(), 4u);
  EXPECT_EQ(endings[0].verdict, "ok") << endings[0].message;
  EXPECT_EQ(endings[1].value, fresh);
  EXPECT_EQ(endings[3].value, fresh);
}

TEST(Renew, NothingThatAProgramCanNameIsLeftOfTheLastOne) {
  SeriesJob vandal(kVandal);
  vandal.input = "{}";
  const auto endings = RunSeries(
      {vandal,
       "return [typeof left, typeof x, typeof lexical, typeof other, typeof input, RegExp.$1, typeof Date, "
       "new Error('e').stack.includes('program.js:') || new Error('e').stack.length > 10, ({}).mark === "
       "undefined]"});
  ASSERT_EQ(endings.size(), 2u);
  EXPECT_EQ(endings[1].value,
            R"(["undefined","undefined","undefined","undefined","undefined","","function",true,true])");
}

TEST(Renew, ChanceDependsOnTheJobsOwnSeedAlone) {
  const char* const code = "return [Math.random(), Math.random(), Math.random()]";
  const std::string first = RunSeries({Seeded(code, 7)}).at(0).value;
  const auto endings =
      RunSeries({Seeded(code, 7), Seeded(code, 8), Seeded("Math.random(); return 1", 7), Seeded(code, 7)});
  ASSERT_EQ(endings.size(), 4u);
  EXPECT_EQ(endings[0].value, first);
  EXPECT_NE(endings[1].value, first);
  EXPECT_EQ(endings[3].value, first);
}

TEST(Renew, WhatAJobLeftToRunNeverRuns) {
  const auto endings =
      RunSeries({"Promise.resolve().then(() => console.log('in time'));"
                 "return {toJSON() { Promise.resolve().then(() => console.log('late')); "
                 "(async () => { for (;;) { await 0; console.log('later'); } })(); return 1 }}",
                 "for (let i = 0; i < 100; i++) await 0; console.log('mine'); return 2"});
  ASSERT_EQ(endings.size(), 2u);
  EXPECT_EQ(endings[0].events, (std::vector<std::string>{"in time"}));
  EXPECT_EQ(endings[1].value, "2");
  EXPECT_EQ(endings[1].events, (std::vector<std::string>{"mine"}));
}

TEST(Renew, RejectionsAndCallsOfAnEarlierJobAreNoneOfTheLaters) {
  const auto endings = RunSeries(
      {"Promise.reject(new Error('mine')); dataProxy.request('left').then(() => console.log('answered')); "
       "return {toJSON() { Promise.reject(new Error('late')); return 1 }}",
       "const a = await dataProxy.request('asked'); return [a, await dataProxy.request('again')]"});
  ASSERT_EQ(endings.size(), 2u);
  EXPECT_EQ(endings[0].events.size(), 2u) << "one for each rejection";
  EXPECT_EQ(endings[1].value, "[1,2]");
  EXPECT_TRUE(endings[1].events.empty()) << endings[1].events[0];
  EXPECT_EQ(endings[1].calls, (std::vector<std::string>{"1 asked", "2 again"}));
}

TEST(Renew, FinalizersOfAnEarlierJobNeverRun) {
  const auto endings =
      RunSeries({"globalThis.r = new FinalizationRegistry(() => console.log('finalized')); globalThis.w = [];"
                 "for (let i = 0; i < 1000; i++) { r.register({i}, i); w.push(new WeakRef({i})) } return 1",
                 "for (let i = 0; i < 400; i++) { globalThis.junk = new Array(20000).fill(i + 0.5); await 0 "
                 "} return 2"});
  ASSERT_EQ(endings.size(), 2u);
  EXPECT_EQ(endings[1].value, "2");
  EXPECT_TRUE(endings[1].events.empty());
}

TEST(Renew, EventCapsBeginAnewWithEachJob) {
  SeriesJob chatty("for (let i = 0; i < 5; i++) { console.log(i); reportStatus(i) } return 1");
  chatty.program.limits.Set(LimitId::kMaxConsoleEvents, 3);
  chatty.program.limits.Set(LimitId::kMaxStatusEvents, 2);
  for (const SeriesEnding& ending : RunSeries({chatty, chatty, chatty})) EXPECT_EQ(ending.events.size(), 5u);
}

TEST(Renew, ClockAndWebAssemblyAreEachJobsOwn) {
  SeriesJob frozen("return [Date.now(), typeof WebAssembly]");
  frozen.program.clock_ms = 1'700'000'000'123;
  frozen.program.wasm = true;
  const auto endings = RunSeries({frozen, "return [Date.now() > 1.75e12, typeof WebAssembly]", frozen});
  ASSERT_EQ(endings.size(), 3u);
  EXPECT_EQ(endings[0].value, R"([1700000000123,"object"])");
  EXPECT_EQ(endings[1].value, R"([true,"undefined"])");
  EXPECT_EQ(endings[2].value, endings[0].value);
}

TEST(Renew, AProgramThatFailedLeavesARoomAsGood) {
  SeriesJob module("export default (i) => i.x + 1");
  module.program.mode = Mode::kModule;
  module.input = R"({"x":1})";
  SeriesJob script("var a = 1; a + 1");
  script.program.mode = Mode::kScript;
  const auto endings =
      RunSeries({"return (", "throw new Error('thrown')", "const f = () => f(); f()", module,
                 "return {toJSON() { throw 1 }}", "await new Promise(() => {})", script, "return 3"});
  ASSERT_EQ(endings.size(), 8u);
  std::string verdicts;
  for (const SeriesEnding& ending : endings) verdicts += ending.verdict + ending.value + " ";
  EXPECT_EQ(verdicts, "COMPILE RUNTIME RUNTIME ok2 VALIDATION RUNTIME ok2 ok3 ");
  EXPECT_EQ(endings[1].message, "thrown");
}

TEST(Renew, ALaterJobHasItsWholeBudgetAndAnswersForItsOwnHeapAlone) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer's own memory counts";
#endif
  SeriesJob big(
      "const keep = []; for (let i = 0; i < 480; i++) keep.push(new Array(12500).fill(i + 0.5)); "
      "return keep.length");  // 48 MB of 64
  big.program.limits.Set(LimitId::kMemoryMb, 64);
  SeriesJob buffers(
      "const keep = []; for (let i = 0; i < 48; i++) keep.push(new Uint8Array(1e6).fill(1)); return 1");
  buffers.program.limits = big.program.limits;
  SeriesJob small("return 1");
  small.program.limits = big.program.limits;
  const std::uint64_t alone = RunSeries({small}).at(0).heap_peak_bytes;
  const std::vector<SeriesJob> jobs = {big, small, buffers, big, buffers, buffers, small, big, big, small};
  const auto endings = RunSeries(jobs, Bytes::MiB(64 + kDataMarginMb));
  ASSERT_EQ(endings.size(), jobs.size()) << "the next one ran out of memory";
  for (std::size_t i : {1, 6, 9}) {
    EXPECT_LT(endings[i].heap_peak_bytes, alone + (2u << 20)) << i;
  }
  EXPECT_GT(endings[3].heap_peak_bytes, 40u << 20);
}

TEST(Renew, AThousandJobsLeaveNoMoreBehindThanTen) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer's own memory counts";
#endif
  std::vector<SeriesJob> jobs(1'000,
                              SeriesJob("globalThis.f = (x) => input; return [1, 2, 3].map(f).length"));
  const auto endings = RunSeries(jobs);
  ASSERT_EQ(endings.size(), jobs.size());
  std::uint64_t most = 0;
  double micros = 0;
  for (const SeriesEnding& ending : endings) {
    most = std::max(most, ending.data_bytes - endings[0].data_bytes);
    micros += ending.micros;
  }
  EXPECT_LT(most, 16u << 20);
  std::printf("%.0f us a job, %.1f MiB of data at most\n", micros / 1'000,
              static_cast<double>(most) / (1 << 20));
}

}  // namespace
}  // namespace skerry::engine
