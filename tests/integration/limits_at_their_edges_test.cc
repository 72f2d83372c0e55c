// Each limit of DESIGN section 4 at its edge: exactly the limit passes, one more trips. (Slots and
// workerMemoryMb are in capacity_test.cc.)
#include "tests/support/pool.h"

namespace skerry::testing {
namespace {

using LimitEdge = PoolTest;

TEST_F(LimitEdge, CodeOfExactlyMaxCodeBytesRuns) {
  // The limit is in UTF-8 bytes: the 'é' counts two.
  const std::string code = "return '\u00e9'.length";
  EXPECT_TRUE(IsOk(RunOne(Job("at", code).Limit("maxCodeBytes", code.size())), 1));
  const auto past = RunOne(Job("past", code).Limit("maxCodeBytes", code.size() - 1));
  EXPECT_TRUE(IsError(past, "VALIDATION", "maxCodeBytes"));
  EXPECT_EQ(past.Error("started"), false);
  EXPECT_EQ(past.Error("fault"), "client");
}

TEST_F(LimitEdge, TheDefaultMaxCodeBytesIs524288) {
  std::string code = "return 1//";
  code.resize(524'288, 'x');
  EXPECT_TRUE(IsOk(RunOne(Job("at", code)), 1));
  EXPECT_TRUE(IsError(RunOne(Job("past", code + "x")), "VALIDATION", "maxCodeBytes"));
}

TEST_F(LimitEdge, MaxDataRequestsCallsAreAnsweredAndOneMoreRejects) {
  const RunOptions answers{.fixtures = Json{{"*", 7}}};
  const std::string code = "let s=0;for(let i=0;i<input;i++)s+=await dataProxy.request('m');return s";
  EXPECT_TRUE(IsOk(RunOne(Job("at", code).Set("input", 3).Limit("maxDataRequests", 3), answers), 21));
  EXPECT_TRUE(IsError(RunOne(Job("past", code).Set("input", 4).Limit("maxDataRequests", 3), answers), "LIMIT",
                      "maxDataRequests"));
  EXPECT_TRUE(IsError(RunOne(Job("none", code).Set("input", 1).Limit("maxDataRequests", 0), answers), "LIMIT",
                      "maxDataRequests"));
}

TEST_F(LimitEdge, ParallelHostCallsAreCountedWhenTheyAreMade) {
  const RunOptions answers{.fixtures = Json{{"*", {{"$value", 1}, {"$delayMs", 20}}}}};
  const auto result = RunOne(Job("p",
                                 "const r=await Promise.allSettled(Array.from({length:5},"
                                 "()=>dataProxy.request('m')));return r.map(x=>x.status)")
                                 .Limit("maxDataRequests", 3),
                             answers);
  EXPECT_TRUE(IsOk(result, Json{"fulfilled", "fulfilled", "fulfilled", "rejected", "rejected"}));
  EXPECT_EQ(result.Usage("dataRequests"), 3);
}

TEST_F(LimitEdge, AnswersOfExactlyMaxDataBytesAreDeliveredAndOneByteMoreIsNot) {
  const RunOptions answers{.fixtures =
                               Json{{"ten", "12345678"}, {"eleven", "123456789"}}};  // with their quotes
  const std::string code = "return [await dataProxy.request('ten'),await dataProxy.request(input)]";
  const auto at = RunOne(Job("at", code).Set("input", "ten").Limit("maxDataBytes", 20), answers);
  EXPECT_TRUE(IsOk(at, Json{"12345678", "12345678"}));
  EXPECT_EQ(at.Usage("dataBytes"), 20);
  EXPECT_TRUE(IsError(RunOne(Job("past", code).Set("input", "eleven").Limit("maxDataBytes", 20), answers),
                      "LIMIT", "maxDataBytes"));
}

TEST_F(LimitEdge, ParamsOfExactlyMaxParamsBytesAreSentAndOneByteMoreIsNot) {
  const RunOptions answers{.fixtures = Json{{"m", "ok"}}};
  // method "m" is one byte, the params `"xx…"` are input + 2.
  const std::string code = "return dataProxy.request('m','x'.repeat(input))";
  EXPECT_TRUE(IsOk(RunOne(Job("at", code).Set("input", 97).Limit("maxParamsBytes", 100), answers), "ok"));
  EXPECT_TRUE(IsError(RunOne(Job("past", code).Set("input", 98).Limit("maxParamsBytes", 100), answers),
                      "LIMIT", "maxParamsBytes"));
}

TEST_F(LimitEdge, AResultOfExactlyMaxResultBytesIsAValueAndOneByteMoreIsNot) {
  const std::string code = "return 'x'.repeat(input)";
  const auto at = RunOne(Job("at", code).Set("input", 98).Limit("maxResultBytes", 100));
  EXPECT_TRUE(IsOk(at, std::string(98, 'x')));
  EXPECT_EQ(at.Usage("resultBytes"), 100);
  const auto past = RunOne(Job("past", code).Set("input", 99).Limit("maxResultBytes", 100));
  EXPECT_TRUE(IsError(past, "VALIDATION", "maxResultBytes"));
  EXPECT_EQ(past.Error("fault"), "limit");
}

TEST_F(LimitEdge, ResultBytesAreThoseOfUtf8) {
  const std::string code = "return '\u00e9'.repeat(49)";  // 98 bytes and two quotes
  EXPECT_TRUE(IsOk(RunOne(Job("at", code).Limit("maxResultBytes", 100))));
  EXPECT_TRUE(IsError(RunOne(Job("past", code).Limit("maxResultBytes", 99)), "VALIDATION", "maxResultBytes"));
}

TEST_F(LimitEdge, TheDefaultMaxResultBytesIs5242880) {
  EXPECT_TRUE(IsOk(RunOne(Job("at", "return 'x'.repeat(5242878)"))));
  EXPECT_TRUE(IsError(RunOne(Job("past", "return 'x'.repeat(5242879)")), "VALIDATION", "maxResultBytes"));
}

TEST_F(LimitEdge, StatusEventsUpToTheirLimitAreKeptAndOneMoreIsDropped) {
  const std::string code = "for(let i=0;i<input;i++)reportStatus(i);return 1";
  const auto at = RunOne(Job("at", code).Set("input", 5).Limit("maxStatusEvents", 5));
  EXPECT_EQ(at.Events("status").size(), 5u);
  EXPECT_EQ(at.Usage("droppedEvents"), 0);
  const auto past = RunOne(Job("past", code).Set("input", 6).Limit("maxStatusEvents", 5));
  EXPECT_TRUE(IsOk(past, 1));
  EXPECT_EQ(past.Events("status").size(), 5u);
  EXPECT_EQ(past.Usage("droppedEvents"), 1);
}

TEST_F(LimitEdge, ConsoleEventsHaveACapOfTheirOwn) {
  const auto result = RunOne(Job("c", "for(let i=0;i<6;i++){console.log(i);reportStatus(i)}return 1")
                                 .Limit("maxConsoleEvents", 4)
                                 .Limit("maxStatusEvents", 2));
  EXPECT_TRUE(IsOk(result, 1));
  EXPECT_EQ(result.Events("console").size(), 4u);
  EXPECT_EQ(result.Events("status").size(), 2u);
  EXPECT_EQ(result.Usage("droppedEvents"), 6);
}

TEST_F(LimitEdge, NoConsoleEventsAtAllIsALimitToo) {
  const auto result =
      RunOne(Job("c", "console.log('x');console.assert(false);return 1").Limit("maxConsoleEvents", 0));
  EXPECT_TRUE(IsOk(result, 1));
  EXPECT_TRUE(result.Events().empty());
  EXPECT_EQ(result.Usage("droppedEvents"), 2);
}

TEST_F(LimitEdge, AConsoleEventOfExactlyMaxEventBytesIsWholeAndALongerOneIsCutAndMarked) {
  const std::string code = "console.log('x'.repeat(input));return 1";
  const auto at = RunOne(Job("at", code).Set("input", 100).Limit("maxEventBytes", 100));
  ASSERT_EQ(at.Events("console").size(), 1u);
  EXPECT_EQ(at.ConsoleTexts()[0], std::string(100, 'x'));
  EXPECT_FALSE(at.Events()[0].value("truncated", false));
  const auto past = RunOne(Job("past", code).Set("input", 101).Limit("maxEventBytes", 100));
  ASSERT_EQ(past.Events("console").size(), 1u);
  EXPECT_LE(past.ConsoleTexts()[0].size(), 100u);
  EXPECT_GE(past.ConsoleTexts()[0].size(), 64u);
  EXPECT_TRUE(past.Events()[0].value("truncated", false)) << Shown(past);
}

TEST_F(LimitEdge, ATruncatedTextEndsBetweenCharacters) {
  const auto result =
      RunOne(Job("u", "console.log('x'+'\u00e9'.repeat(200));return 1").Limit("maxEventBytes", 100));
  ASSERT_EQ(result.Events("console").size(), 1u);
  const std::string text = result.ConsoleTexts()[0];
  EXPECT_LE(text.size(), 100u);
  EXPECT_TRUE(text.starts_with("x\u00e9\u00e9")) << text;
  EXPECT_EQ(text.find("\ufffd"), std::string::npos) << text;
}

TEST_F(LimitEdge, AStatusEventOfExactlyMaxEventBytesIsWholeAndALongerOneIsMarked) {
  const std::string code = "reportStatus('x'.repeat(input));return 1";
  const auto at = RunOne(Job("at", code).Set("input", 98).Limit("maxEventBytes", 100));
  ASSERT_EQ(at.Events("status").size(), 1u);
  EXPECT_EQ(at.Events()[0].at("value"), std::string(98, 'x'));
  EXPECT_FALSE(at.Events()[0].value("truncated", false));
  const auto past = RunOne(Job("past", code).Set("input", 99).Limit("maxEventBytes", 100));
  ASSERT_EQ(past.Events("status").size(), 1u);
  EXPECT_TRUE(past.Events()[0].value("truncated", false)) << Shown(past);
}

TEST_F(LimitEdge, EventsUpToMaxEventsTotalBytesAreKeptAndTheOneThatPassesItIsDropped) {
  const std::string code = "for(let i=0;i<input;i++)console.log('x'.repeat(100));return 1";
  const auto at = RunOne(Job("at", code).Set("input", 10).Limit("maxEventsTotalBytes", 1000));
  EXPECT_EQ(at.Events().size(), 10u);
  EXPECT_EQ(at.Usage("droppedEvents"), 0);
  const auto past = RunOne(Job("past", code).Set("input", 11).Limit("maxEventsTotalBytes", 1000));
  EXPECT_TRUE(IsOk(past, 1));
  EXPECT_EQ(past.Events().size(), 10u);
  EXPECT_EQ(past.Usage("droppedEvents"), 1);
  const auto one_byte = RunOne(Job("byte", code).Set("input", 10).Limit("maxEventsTotalBytes", 999));
  EXPECT_EQ(one_byte.Events().size(), 9u);
}

TEST_F(LimitEdge, AJobThatEndsInsideItsTimeoutIsOkAndOneThatOutlastsItIsNot) {
  const RunOptions answers{.fixtures = Json{{"w", {{"$value", 1}, {"$delayMs", 200}}}}};
  const std::string code = "return dataProxy.request('w')";
  EXPECT_TRUE(IsOk(RunOne(Job("in", code).Limit("timeoutMs", 600), answers), 1));
  const auto past = RunOne(Job("past", code).Limit("timeoutMs", 150), answers);
  EXPECT_TRUE(IsError(past, "TIMEOUT", "timeoutMs"));
  EXPECT_GE(past.Usage("wallMs"), 150);
  EXPECT_LT(past.Usage("cpuMs"), 100) << "waiting for the host must not count as computing";
}

TEST_F(LimitEdge, TheDeadlineCoversCompilingAndConversion) {
  const auto report =
      Run({Job("getter", "return {get x(){for(;;);}}").Limit("timeoutMs", 200),
           Job("toJSON", "return {toJSON(){for(;;);}}").Limit("timeoutMs", 200),
           Job("status", "reportStatus({get x(){for(;;);}})").Limit("timeoutMs", 200),
           Job("params", "return dataProxy.request('m',{toJSON(){for(;;);}})").Limit("timeoutMs", 200)});
  for (const auto& [id, result] : report.results) EXPECT_TRUE(IsError(result, "TIMEOUT", "timeoutMs")) << id;
}

TEST_F(LimitEdge, ComputingPastCpuMsEndsTheJobLongBeforeItsTimeout) {
  const auto past = RunOne(Job("past", "for(;;);").Limit("cpuMs", 200).Limit("timeoutMs", 20'000));
  EXPECT_TRUE(IsError(past, "TIMEOUT", "cpuMs"));
  EXPECT_GE(past.Usage("cpuMs"), 195);
  EXPECT_LT(past.Usage("cpuMs"), 400);
  EXPECT_LT(past.Usage("wallMs"), 10'000);
}

TEST_F(LimitEdge, WaitingDoesNotUseUpCpuMs) {
  const RunOptions answers{.fixtures = Json{{"w", {{"$value", 1}, {"$delayMs", 600}}}}};
  EXPECT_TRUE(IsOk(RunOne(Job("in", "return dataProxy.request('w')").Limit("cpuMs", 300), answers), 1));
}

TEST_F(LimitEdge, AProgramThatHoldsEightyPercentOfItsMemorySucceedsAndOneThatNeedsMoreIsOom) {
  // Buffers: what they hold is exactly what is asked for.
  const std::string code =
      "const a=[];for(let i=0;i<input;i++)a.push(new Uint8Array(1<<20).fill(1));return a.length";
  EXPECT_TRUE(IsOk(RunOne(Job("in", code).Set("input", 51).Limit("memoryMb", 64)), 51));
  EXPECT_TRUE(IsError(RunOne(Job("past", code).Set("input", 70).Limit("memoryMb", 64)), "OOM", "memoryMb"));
}

TEST_F(LimitEdge, ALimitOverItsCeilingIsRefusedAndNeverClamped) {
  const std::vector<std::pair<std::string, std::uint64_t>> over = {
      {"memoryMb", 1025},           {"timeoutMs", 600'001},
      {"cpuMs", 600'001},           {"maxCodeBytes", (8 << 20) + 1},
      {"maxDataRequests", 10'001},  {"maxDataBytes", 268435457},
      {"maxParamsBytes", 16777217}, {"maxResultBytes", 67108865},
      {"maxStatusEvents", 100'001}, {"maxConsoleEvents", 100'001},
      {"maxEventBytes", 1048577},   {"maxEventsTotalBytes", 67108865}};
  std::vector<Job> jobs;
  for (const auto& [name, value] : over) {
    jobs.push_back(Job(name, "return 1").Limit(name, value));
    jobs.push_back(Job(name + "-at", "return 1").Limit(name, value - 1));
  }
  const auto report = Run(jobs);
  for (const auto& [name, value] : over) {
    EXPECT_TRUE(IsError(report.At(name), "VALIDATION", name));
    EXPECT_EQ(report.At(name).Error("started"), false);
    EXPECT_NE(report.At(name).message().find(name), std::string::npos);
    EXPECT_TRUE(IsOk(report.At(name + "-at"), 1)) << name << " at its ceiling";
  }
}

TEST(LimitCeiling, AnOperatorsCeilingIsTheOneThatCounts) {
  Pool pool({.broker_args = {"--ceiling", "timeoutMs=1000"}});
  const auto report =
      pool.Run({Job("at", "return 1").Limit("timeoutMs", 1000),
                Job("past", "return 1").Limit("timeoutMs", 1001), Job("default", "for(;;);")});
  EXPECT_TRUE(IsOk(report.At("at"), 1));
  EXPECT_TRUE(IsError(report.At("past"), "VALIDATION", "timeoutMs"));
  EXPECT_TRUE(IsError(report.At("default"), "TIMEOUT", "timeoutMs"));  // the default came down to the ceiling
  EXPECT_LT(report.At("default").Usage("wallMs"), 5000);
}

// The README says so: JSON.stringify's recursion meets the bound of V8's stack before 6,000.
TEST_F(LimitEdge, AValueMayNestFiveThousandDeepAndNotTenThousand) {
  const std::string arrays = "let v = 0; for (let i = 0; i < input; i++) v = [v]; return v";
  const std::string objects = "let v = 0; for (let i = 0; i < input; i++) v = {a: v}; return v";
  for (const std::string& code : {arrays, objects}) {
    EXPECT_TRUE(RunOne(Job("deep", code).Set("input", 5'000)).ok()) << code;
    EXPECT_TRUE(IsError(RunOne(Job("deeper", code).Set("input", 10'000)), "VALIDATION")) << code;
  }
}

}  // namespace
}  // namespace skerry::testing
