// The transparency of kept programs: whatever a run in a fork of an evaluated template says is what one from
// the beginning says, to the last position in a stack.
#include <gtest/gtest.h>

#include "worker/engine/testing/forked_run.h"

namespace skerry::engine {
namespace {

/// Everything that a client can see of an end, but for times and bytes of memory.
std::string Seen(const Ending& ending) {
  std::string text = ending.Verdict() + " " + ending.outcome.value;
  if (ending.outcome.error) {
    const JobError& e = *ending.outcome.error;
    text += "\n" + e.name + "|" + e.message + "|" + e.limit + "|" + std::string(NameOf(e.fault)) + "|" +
            std::to_string(e.position.line) + ":" + std::to_string(e.position.column) + "\n" + e.stack;
  }
  for (const SeenEvent& event : ending.events)
    text +=
        "\n" + std::string(NameOf(event.type)) + " " + std::string(NameOf(event.level)) + " " + event.payload;
  for (const SeenCall& call : ending.calls)
    text += "\n" + std::to_string(call.call) + " " + call.method + " " + call.params;
  const Usage& u = ending.outcome.usage;
  for (const std::uint64_t figure :
       {u.data_requests, u.data_bytes, u.status_events, u.console_events, u.dropped_events, u.result_bytes})
    text += " " + std::to_string(figure);
  return text;
}

void ExpectEqual(ForkedRun run, const char* shown) {
  run.program.input = R"({"x":20,"list":[3,1,2]})";
  run.kept.reset();
  const std::string plain = Seen(run.Go());
  run.kept = Seeding::kPerRun;
  const std::string kept = Seen(run.Go());
  if (run.program.mode == Mode::kModule && kept.starts_with("not kept")) {
    ADD_FAILURE() << shown << ": " << kept;
  }
  EXPECT_EQ(kept, plain) << shown;
}

// What compiles in each mode: `return` becomes the mode's own way to give a value.
struct Sample {
  const char* before;  ///< the value; evaluated once in a module
  const char* value;   ///< an expression
};
constexpr Sample kSamples[] = {
    {"", "input.x + 1"},
    {"const k = [1, 2, 3].map((n) => n * n);", "k.concat(input.list).sort((a, b) => a - b)"},
    {"class Stack { #items = []; push(x) { this.#items.push(x); return this; } get size() { return "
     "this.#items.length } }",
     "new Stack().push(1).push(2).size"},
    {"function fail(n) {\n  if (n === 0) throw new TypeError('deep');\n  return fail(n - 1);\n}", "fail(3)"},
    {"const f = () => {\n\n  return null.x;\n};", "f()"},
    {"function over() { return over() + 1 }", "over()"},
    {"const where = new Error('made before').stack;", "where"},
    {"const made = new Error('made before, thrown later');", "(() => { throw made })()"},
    {"const lazy = new RangeError('stack read later');", "lazy.stack"},
    {"", "new Error('here').stack"},
    {"", "Object.getOwnPropertyNames(globalThis).join()"},
    {"", "JSON.stringify(Object.getOwnPropertyDescriptor(globalThis, 'input'))"},
    {"",
     "['WeakRef', 'FinalizationRegistry'].map((n) => typeof globalThis[n] + "
     "JSON.stringify(Object.getOwnPropertyDescriptor(globalThis, n)))"},
    {"", "Object.keys(globalThis)"},
    {"globalThis.mark = 7;", "globalThis.mark + Object.keys(globalThis).length"},
    {"", "(console.log('a', input, [1]), reportStatus({ x: input.x }), console.error(new Error('e')), 1)"},
    {"", "dataProxy.request('method', { a: 1 })"},
    {"", "Promise.reject(new Error('rejected'))"},
    {"", "new Promise(() => {})"},
    {"", "(Promise.reject(new Error('unhandled')), 1)"},
    {"const p = Promise.reject(new Error('handled')); p.catch(() => {});",
     "p.then(() => 1, (e) => e.message)"},
    {"const ready = Promise.resolve(41);", "ready.then((n) => n + 1)"},
    {"let calls = 0; const once = () => ++calls;", "[once(), once()]"},
    {"", "1n"},
    {"", "(() => { const o = {}; o.o = o; return o })()"},
    {"Array.prototype.mine = 1; Object.prototype.then = undefined;", "[[].mine, 1]"},
    {"JSON.stringify = () => 'patched'; Math.random = () => 4;", "({ a: Math.random() })"},
    {"", "eval('throw new SyntaxError(\"in eval\")')"},
    {"", "new Function('a', 'return a.b.c')({})"},
    {"Error.stackTraceLimit = 2; function a() { b() } function b() { c() } function c() { throw new "
     "Error('cut') }",
     "a()"},
    {"Error.prepareStackTrace = (e, sites) => e + ' with ' + sites.length;", "new Error('formatted').stack"},
    {"", "import('fs')"},
    {"const text = 'é漢😀\\u2028'; ", "text + (() => { throw new Error(text) })()"},
    {"const r = /(?<y>\\d{4})/g;", "'on 2024 and 2025'.replace(r, (m) => m + 1)"},
    {"const m = new Map(Object.entries({ a: 1 }));", "[...m].flat().concat(typeof require, typeof fetch)"},
    {"const big = Array.from({ length: 2e4 }, (_, i) => ({ i, s: 'n' + i }));",
     "big.reduce((sum, o) => sum + o.i + o.s.length, 0)"},
    {"const t = new Float64Array(5000).fill(1.5); const v = new DataView(t.buffer);",
     "t[4999] + v.byteLength"},
    {"function* g() { yield 1; yield 2 } const it = g(); it.next();", "it.next()"},
    {"const s = Symbol('s'); const w = new WeakMap([[globalThis, s]]);", "String(w.get(globalThis))"},
    {"Object.preventExtensions(globalThis);", "input.x"},
    {"let hot = 0; for (let i = 0; i < 50000; i++) hot = (hot + i * i) % 65521;", "hot"},
    {"const d = new Date(0); const f2 = new Intl.NumberFormat('en-US');",
     "d.toISOString() + f2.format(1234.5)"},
};

TEST(KeptEqualsPlain, InModeFunction) {
  for (const Sample& sample : kSamples) {
    ForkedRun run(std::string(sample.before) + "\nreturn " + sample.value);
    ExpectEqual(run, run.code.c_str());
  }
}

TEST(KeptEqualsPlain, InModeScript) {
  for (const Sample& sample : kSamples) {
    ForkedRun run(std::string(sample.before) + "\n;(" + sample.value + ")");
    run.program.mode = Mode::kScript;
    ExpectEqual(run, run.code.c_str());
  }
}

TEST(KeptEqualsPlain, InModeModule) {
  for (const Sample& sample : kSamples) {
    ForkedRun run(std::string(sample.before) + "\nexport default () => (" + sample.value + ")");
    run.program.mode = Mode::kModule;
    ExpectEqual(run, run.code.c_str());
  }
}

TEST(KeptEqualsPlain, WhateverAModuleExports) {
  for (const char* code :
       {"export default 42", "export const handler = (i) => i.x", "export const other = 1",
        "export default null", "export default Promise.resolve(3)",
        "export default class { constructor() { this.a = 1 } }",
        "export default async function named(i) { throw new Error(i.x) }",
        "export { late as default }; let late = 5",
        "const v = await Promise.resolve(6); export default () => v",
        "export default (i, ...rest) => rest.length",
        "export default function () { return this === undefined }", "export default import.meta.url"}) {
    ForkedRun run(code);
    run.program.mode = Mode::kModule;
    ExpectEqual(run, code);
  }
}

TEST(KeptEqualsPlain, WithWebAssemblyAndWithAClockThatStandsStill) {
  ForkedRun run(
      "const bytes = new "
      "Uint8Array([0,97,115,109,1,0,0,0,1,5,1,96,0,1,127,3,2,1,0,7,5,1,1,102,0,0,10,6,1,4,0,65,42,11]);"
      "const { exports: { f } } = new WebAssembly.Instance(new WebAssembly.Module(bytes));"
      "const then = Date.now(); export default () => [f(), then, Date.now(), "
      "Object.getOwnPropertyNames(globalThis)]");
  run.program.mode = Mode::kModule;
  run.program.wasm = true;
  run.program.clock_ms = kFrozenClockMs;
  ExpectEqual(run, "wasm");
}

TEST(KeptEqualsPlain, InputThatIsNoJson) {
  for (const std::optional<Seeding> kept : {std::optional<Seeding>(), std::optional(Seeding::kPerRun)}) {
    ForkedRun run("return 1");
    run.program.input = "{\"x\":";
    run.kept = kept;
    EXPECT_EQ(run.Go().Verdict(), "VALIDATION");
  }
}

TEST(KeptEqualsPlain, TheRandomNumbersOfAFixedSeed) {
  for (const Mode mode : {Mode::kFunction, Mode::kScript, Mode::kModule}) {
    ForkedRun run(mode == Mode::kModule ? "const a = Math.random(); export default () => [a, Math.random()]"
                  : mode == Mode::kFunction ? "return [Math.random(), Math.random()]"
                                            : "[Math.random(), Math.random()]");
    run.program.mode = mode;
    run.program.seed = 77;
    const std::string plain = Seen(run.Go());
    run.kept = Seeding::kFixed;
    EXPECT_EQ(Seen(run.Go()), plain) << NameOf(mode);
  }
}

TEST(KeptEqualsPlain, TheRandomNumbersOfARunsOwnSeed) {
  ForkedRun run("export default () => [Math.random(), Math.random()]");
  run.program.mode = Mode::kModule;
  run.program.seed = 78;
  const std::string plain = Seen(run.Go());
  run.kept = Seeding::kPerRun;
  EXPECT_EQ(Seen(run.Go()), plain);
}

}  // namespace
}  // namespace skerry::engine
