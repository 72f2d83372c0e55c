// The job's memory budget: every kind of bomb ends as OOM within it, and programs that stay under it succeed.
#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "worker/engine/testing/forked_run.h"

namespace skerry::engine {
namespace {

struct Bomb {
  const char* name;
  const char* code;
};

// Each holds on to what it makes and never ends by itself.
constexpr Bomb kBombs[] = {
    {"Arrays", "const a=[]; for(;;) a.push(new Array(1000).fill(1.5))"},
    {"Objects", "const a=[]; for(let i=0;;i++) a.push({i, name:'n'+i, nested:{i}})"},
    {"Strings", "const a=[]; for(let i=0;;i++) a.push(('s'+i).repeat(500).toUpperCase())"},
    {"Map", "const m=new Map(); for(let i=0;;i++) m.set('k'+i, i)"},
    {"Set", "const s=new Set(); for(let i=0;;i++) s.add(i+0.5)"},
    {"ArrayBuffers", "const a=[]; for(;;) a.push(new Uint8Array(300000).fill(1))"},
    {"BigInt", "const a=[]; for(let i=0n;;i++) a.push((i+1n)<<400000n)"},
    {"RegExp",
     "const a=[]; for(let i=0;;i++){const r=new RegExp('(?:'+('ab'+i+'|').repeat(2000)+'z)'); r.test('y'); "
     "a.push(r)}"},
    {"Intl",
     "const a=[]; for(;;) a.push(new Intl.NumberFormat('en',{style:'currency',currency:'EUR'}), new "
     "Intl.DateTimeFormat('en'))"},
    {"EvaledSource",
     "const a=[]; for(let i=0;;i++) a.push(eval('(function f'+i+'(){/*'+'x'.repeat(100000)+'*/return "
     "['+('x'+i+',').repeat(200)+'0]})'))"},
    {"Json",
     "const t='['+'{\"a\":[1,\"two\",null]},'.repeat(20000)+'0]', a=[]; for(;;) a.push(JSON.parse(t))"},
    {"Promises",
     "const a=[]; for(;;) a.push(new Promise(()=>{}).then(()=>1), (async()=>{await new Promise(()=>{})})())"},
};

class MemoryBomb : public testing::TestWithParam<std::tuple<Bomb, int>> {};

TEST_P(MemoryBomb, EndsAsOutOfMemoryWithinItsBudget) {
  const auto& [bomb, memory_mb] = GetParam();
  ForkedRun run(bomb.code);
  run.With(LimitId::kMemoryMb, static_cast<std::uint64_t>(memory_mb));
  run.deadline = Millis(100'000);
  const Ending ending = run.Go();
  EXPECT_EQ(ending.kind, Ending::Kind::kOutOfMemory) << ending.Describe();
  EXPECT_LE(ending.peak_private_bytes >> 20, static_cast<std::uint64_t>(memory_mb + 40)) << ending.Describe();
  RecordProperty("peak_private_mib", static_cast<int>(ending.peak_private_bytes >> 20));
  RecordProperty("wall_ms", static_cast<int>(ending.wall_ms));
}

INSTANTIATE_TEST_SUITE_P(Kinds, MemoryBomb,
                         testing::Combine(testing::ValuesIn(kBombs), testing::Values(8, 64, 256)),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param).name) + "In" +
                                  std::to_string(std::get<1>(info.param)) + "MiB";
                         });

struct Diet {
  const char* name;
  const char* code;  ///< `input` is 80 % of the budget in bytes
};

// Each takes 80 % of its budget, lets go, and then takes as much again in another form or the same.
constexpr Diet kDiets[] = {
    {"Arrays",
     "let a=[]; for(let n=0;n<input;n+=8016) a.push(new Array(1000).fill(1.5)); a=null;"
     "a=[]; for(let n=0;n<input;n+=8016) a.push(new Array(1000).fill(2.5)); return 'fits'"},
    {"Objects",
     "for(let round=0;round<3;round++){let a=[]; for(let n=0;n<input*0.9;n+=56) a.push({n,m:n});} return "
     "'fits'"},
    {"Strings",
     "for(let round=0;round<3;round++){let a=[]; for(let n=0;n<input;n+=40016) "
     "a.push(('s'+n).padEnd(40000,'x').toUpperCase());} return 'fits'"},
    {"Buffers",
     "for(let round=0;round<5;round++){let a=[]; for(let n=0;n<input;n+=100000) a.push(new "
     "Uint8Array(100000).fill(1));} return 'fits'"},
    {"OneBuffer", "for(let round=0;round<5;round++) new Uint8Array(input).fill(1); return 'fits'"},
    {"BuffersAfterHeap",
     "let a=[]; for(let n=0;n<input;n+=8016) a.push(new Array(1000).fill(1.5)); a=null;"
     "return new Uint8Array(input).fill(1).length === input ? 'fits' : 'odd'"},
    {"HeapAfterBuffers",
     "let b=[]; for(let n=0;n<input;n+=1e5) b.push(new Uint8Array(1e5).fill(1)); b=null;"
     "let a=[]; for(let n=0;n<input;n+=8016) a.push(new Array(1000).fill(1.5)); return 'fits'"},
    {"HeapAfterSmallBuffers",
     "let b=[]; for(let n=0;n<input;n+=2170) b.push(new Uint8Array(2000).fill(1)); b=null;"
     "let a=[]; for(let n=0;n<input;n+=8016) a.push(new Array(1000).fill(1.5)); return 'fits'"},
    // Names are internalised: V8's table of them, outside the heap, has a quarter of the heap's size.
    {"SetsOfNames",
     "const fill=()=>{const hold=[]; for(let i=0;i<input/26308;i++) hold.push(new "
     "Set(Array.from({length:500},(_,k)=>'key'+k+'of'+i))); return hold.length};"
     "return fill()===fill() ? 'fits' : 'odd'"},
    {"HeapBesideBuffers",
     "let b=new Uint8Array(input/2).fill(1), kept=0;"
     "const fill=()=>{let a=[]; for(let n=0;n<input/2;n+=8016) a.push(new Array(1000).fill(1.5)); return "
     "a.length};"
     "for(let round=0;round<20;round++) kept=fill();"
     "return kept>0&&b.length>0 ? 'fits' : 'odd'"},
    {"Garbage",
     "let s=0; for(let n=0;n<input*20;n+=8016) s+=new Array(1000).fill(1.5).length; return 'fits'"},
};

class MemoryDiet : public testing::TestWithParam<std::tuple<Diet, int>> {};

TEST_P(MemoryDiet, SucceedsOnEightyPercentOfItsBudget) {
  const auto& [diet, memory_mb] = GetParam();
  ForkedRun run(diet.code);
  const std::string input =
      std::to_string(Bytes::MiB(static_cast<std::uint64_t>(memory_mb)).count() * 8 / 10);
  run.program.input = input;
  run.With(LimitId::kMemoryMb, static_cast<std::uint64_t>(memory_mb));
  run.deadline = Millis(100'000);
  const Ending ending = run.Go();
  EXPECT_EQ(ending.outcome.value, "\"fits\"") << ending.Describe();
  EXPECT_LE(ending.peak_private_bytes >> 20, static_cast<std::uint64_t>(memory_mb + 40)) << ending.Describe();
}

INSTANTIATE_TEST_SUITE_P(Kinds, MemoryDiet,
                         testing::Combine(testing::ValuesIn(kDiets), testing::Values(8, 64, 256)),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param).name) + "In" +
                                  std::to_string(std::get<1>(info.param)) + "MiB";
                         });

TEST(Memory, ABufferLargerThanTheBudgetIsOutOfMemoryEvenIfItsErrorIsCaught) {
  ForkedRun run("try { new ArrayBuffer(65 * 2 ** 20) } catch {} return 'went on'");
  run.With(LimitId::kMemoryMb, 64);
  EXPECT_EQ(run.Go().Verdict(), "OOM");
}

TEST(Memory, AnImpossibleLengthIsTheProgramsOwnRangeError) {
  const Ending ending = RunCode("try { new ArrayBuffer(2 ** 60) } catch (e) { return e.name }");
  EXPECT_EQ(ending.outcome.value, "\"RangeError\"") << ending.Describe();
}

TEST(Memory, ResizableBuffersCountWhenTheyGrow) {
  ForkedRun run(
      "const a=[]; for(;;){const b=new ArrayBuffer(8,{maxByteLength:1<<20}); b.resize(1<<20); new "
      "Uint8Array(b).fill(1); a.push(b)}");
  run.With(LimitId::kMemoryMb, 64);
  const Ending ending = run.Go();
  EXPECT_EQ(ending.Verdict(), "OOM") << ending.Describe();
  EXPECT_LE(ending.peak_private_bytes >> 20, 64u + 40u);
}

TEST(Memory, WebAssemblyMemoriesCountAgainstTheBudget) {
  ForkedRun run(
      "const m = []; for (;;) { const x = new WebAssembly.Memory({initial: 100}); new "
      "Uint8Array(x.buffer).fill(1); m.push(x) }");
  run.program.wasm = true;
  run.With(LimitId::kMemoryMb, 64);
  const Ending ending = run.Go();
  EXPECT_EQ(ending.Verdict(), "OOM") << ending.Describe();
  EXPECT_LE(ending.peak_private_bytes >> 20, 104u);
}

TEST(Memory, TheHeapsPeakIsReported) {
  const Ending ending =
      RunCode("let a=[]; for(let i=0;i<5000;i++) a.push(new Array(1000).fill(1.5)); a=null; return 1");
  EXPECT_GT(ending.outcome.usage.heap_peak_bytes, 30u << 20) << ending.Describe();
  EXPECT_LT(ending.outcome.usage.heap_peak_bytes, 60u << 20) << ending.Describe();
}

}  // namespace
}  // namespace skerry::engine
