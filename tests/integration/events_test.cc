// Console and status events: order, levels, text, and what they must not do to the program.
#include "tests/support/pool.h"

namespace skerry::testing {
namespace {

using Events = PoolTest;

TEST_F(Events, ComeInTheOrderTheProgramMadeThem) {
  const auto result = RunOne(Job("o", "for(let i=0;i<300;i++)i%3?console.log(i):reportStatus(i);return 1"));
  const auto events = result.Events();
  ASSERT_EQ(events.size(), 300u);
  for (std::size_t i = 0; i < events.size(); ++i) {
    EXPECT_EQ(events[i].at("type"), i % 3 ? "console" : "status");
    if (i % 3 != 0) {
      EXPECT_EQ(events[i].at("text"), std::to_string(i));
    } else {
      EXPECT_EQ(events[i].at("value"), i);
    }
  }
}

TEST_F(Events, EachConsoleMethodHasItsLevel) {
  const auto result =
      RunOne(Job("l", "for(const m of ['log','info','debug','warn','error'])console[m](m);return 1"));
  const auto events = result.Events("console");
  ASSERT_EQ(events.size(), 5u);
  for (const auto& event : events) EXPECT_EQ(event.at("level"), event.at("text"));
}

TEST_F(Events, ConsoleHasTheSixMethodsAndNoOthers) {
  EXPECT_TRUE(IsOk(RunOne(Job("k", "return Reflect.ownKeys(console).filter(k=>typeof k==='string').sort()")),
                   Json{"assert", "debug", "error", "info", "log", "warn"}));
}

TEST_F(Events, AFailedAssertIsAnEventAndNoError) {
  const auto result = RunOne(Job("a",
                                 "console.assert(false,'sum',1);console.assert(0);console.assert(true,'no');"
                                 "console.assert(1===1);return 'on'"));
  EXPECT_TRUE(IsOk(result, "on"));
  const auto texts = result.ConsoleTexts("assert");
  ASSERT_EQ(texts.size(), 2u);
  EXPECT_EQ(texts[0], "Assertion failed: sum 1");
  EXPECT_EQ(texts[1], "Assertion failed");
}

TEST_F(Events, ConsoleTextIsReadable) {
  const auto result =
      RunOne(Job("r",
                 "console.log('s',1,-0,10n,null,undefined,true,Symbol('y'));"
                 "console.log({a:1,b:['x',[2]]});console.log(new Map([['k',1]]),new Set([2]));"
                 "console.log(new TypeError('bad'));return 1"));
  const auto texts = result.ConsoleTexts("log");
  ASSERT_EQ(texts.size(), 4u);
  EXPECT_EQ(texts[0], "s 1 -0 10n null undefined true Symbol(y)");
  EXPECT_EQ(texts[1], "{ a: 1, b: [ 'x', [ 2 ] ] }");
  EXPECT_NE(texts[2].find("'k'"), std::string::npos) << texts[2];
  EXPECT_NE(texts[3].find("TypeError: bad"), std::string::npos) << texts[3];
}

TEST_F(Events, ConsoleNeverRunsTheProgramsCode) {
  const auto result = RunOne(Job("n", R"(
      let ran = 0;
      const trap = () => { ran++; throw new Error('ran') };
      const handler = new Proxy({}, { get() { return trap } });
      console.log({ get x() { trap() } }, new Proxy({}, handler), { toString: trap, valueOf: trap, toJSON: trap },
                  { [Symbol.toPrimitive]: trap, [Symbol.toStringTag]: 'T' }, new (class { get y() { trap() } }));
      console.log('%s %d %o', { toString: trap }, { valueOf: trap }, { get z() { trap() } });
      return ran)"));
  EXPECT_TRUE(IsOk(result, 0));
  EXPECT_EQ(result.Events("console").size(), 2u);
}

TEST_F(Events, ConsoleIsBoundedOnCyclicEndlessAndHugeObjects) {
  const auto result = RunOne(Job("b", R"(
      const cycle = {}; cycle.self = cycle;
      let deep = {}; for (let i = 0; i < 1e5; i++) deep = { deep };
      console.log(cycle, deep, new Array(1e7), new Proxy({}, {}), Object.create(null), { length: 2 ** 53 });
      console.log('x'.repeat(1e7));
      return 1)")
                                 .Limit("timeoutMs", 5000));
  EXPECT_TRUE(IsOk(result, 1));
  EXPECT_EQ(result.Events("console").size(), 2u);
  for (const auto& text : result.ConsoleTexts()) EXPECT_LE(text.size(), 65'536u);
}

TEST_F(Events, StatusValuesAreJsonAndBadOnesThrowIntoTheProgram) {
  const auto result = RunOne(Job("s", R"(
      reportStatus({ a: [1, 'x', null] }); reportStatus(undefined); reportStatus(NaN); reportStatus(() => 1);
      const names = [];
      const cycle = {}; cycle.self = cycle;
      for (const bad of [cycle, 1n, { toJSON() { throw new RangeError('mine') } }])
        try { reportStatus(bad); names.push('sent') } catch (e) { names.push(e.name) }
      return names)"));
  EXPECT_TRUE(IsOk(result, Json{"TypeError", "TypeError", "RangeError"}));
  const auto events = result.Events("status");
  ASSERT_EQ(events.size(), 4u);
  EXPECT_TRUE(SameValue(events[0].at("value"), Json{{"a", {1, "x", nullptr}}}));
  for (std::size_t i = 1; i < 4; ++i) EXPECT_TRUE(events[i].at("value").is_null());
}

TEST_F(Events, AreSentWhileTheProgramRunsAndNotOnlyAtItsEnd) {
  // The program dies of memory after its events: what had not been sent would be lost with it.
  const auto result =
      RunOne(Job("w", "for(let i=0;i<20;i++)console.log(i);const a=[];for(;;)a.push(new Array(1e4).fill(1))")
                 .Limit("memoryMb", 16)
                 .Limit("timeoutMs", 20'000));
  EXPECT_TRUE(IsError(result, "OOM", "memoryMb"));
  EXPECT_EQ(result.Events("console").size(), 20u);
}

TEST_F(Events, ATwoHundredThousandLineFloodCostsTheJobLittle) {
  const auto result =
      RunOne(Job("f", "for(let i=0;i<2e5;i++)console.log('line',i,{i});return 1").Limit("timeoutMs", 5000));
  EXPECT_TRUE(IsOk(result, 1));
  EXPECT_EQ(result.Events("console").size(), 1000u);
  EXPECT_EQ(result.Usage("droppedEvents"), 199'000);
}

TEST_F(Events, OfParallelJobsStayWithTheirJob) {
  std::vector<Job> jobs;
  for (int i = 0; i < 12; ++i) {
    jobs.push_back(Job("j" + std::to_string(i), "for(let i=0;i<40;i++)reportStatus(input);return input")
                       .Set("input", i));
  }
  const auto report = Run(jobs);
  for (int i = 0; i < 12; ++i) {
    const auto events = report.At("j" + std::to_string(i)).Events("status");
    ASSERT_EQ(events.size(), 40u);
    for (const auto& event : events) EXPECT_EQ(event.at("value"), i);
  }
}

}  // namespace
}  // namespace skerry::testing
