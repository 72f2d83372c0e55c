// Each behaviour that the project promises first, through client, broker, worker, cell and isolate.
#include <thread>

#include "tests/support/pool.h"

namespace skerry::testing {
namespace {

using PromisedBehaviour = PoolTest;

constexpr const char* kGood = "return 1+1";

TEST_F(PromisedBehaviour, AnInfiniteLoopEndsAsTimeout) {
  const auto result = RunOne(Job("loop", "for(;;);").Limit("timeoutMs", 300));
  EXPECT_TRUE(IsError(result, "TIMEOUT", "timeoutMs"));
  EXPECT_EQ(result.Error("fault"), "limit");
  EXPECT_EQ(result.Error("started"), true);
  EXPECT_EQ(result.Error("name"), "SandboxTimeoutError");
  EXPECT_GE(result.Usage("wallMs"), 300);
  EXPECT_GT(result.Usage("cpuMs"), 10);  // on a machine however loaded
}

TEST_F(PromisedBehaviour, AGoodRunAfterACrashingOneWorks) {
  // Out of memory is the program's nearest thing to a crash: its process dies in the middle of V8.
  EXPECT_TRUE(
      IsError(RunOne(Job("bad", "const a=[];for(;;)a.push(new Array(1e5).fill(1))").Limit("memoryMb", 16)),
              "OOM", "memoryMb"));
  EXPECT_TRUE(IsOk(RunOne(Job("good", kGood)), 2));
}

TEST_F(PromisedBehaviour, AMemoryBombOfEightMegabytesEndsAsOom) {
  const auto result = RunOne(
      Job("bomb", "const a=[];for(;;)a.push({x:a.length})").Limit("memoryMb", 8).Limit("timeoutMs", 10'000));
  EXPECT_TRUE(IsError(result, "OOM", "memoryMb"));
  EXPECT_EQ(result.Error("fault"), "limit");
  EXPECT_EQ(result.Error("name"), "SandboxOOMError");
  EXPECT_LE(result.Usage("memoryPeakBytes"), (8 + 40) << 20);
}

TEST_F(PromisedBehaviour, FetchProcessRequireAndTimersAreUndefined) {
  const auto result = RunOne(Job("t",
                                 "return [typeof fetch,typeof process,typeof require,typeof setTimeout,"
                                 "typeof module,typeof Deno,typeof global,typeof SharedArrayBuffer]"));
  EXPECT_TRUE(IsOk(result, Json(std::vector<std::string>(8, "undefined"))));
}

TEST_F(PromisedBehaviour, AConstructedFunctionSeesNoProcessEither) {
  EXPECT_TRUE(IsOk(RunOne(Job("f", "return new Function('return typeof process')()")), "undefined"));
  EXPECT_TRUE(IsOk(RunOne(Job("c", "return (()=>{}).constructor.constructor('return typeof require')()")),
                   "undefined"));
}

TEST_F(PromisedBehaviour, SixHundredThousandBytesOfCodeAreRefusedBeforeTheyRun) {
  std::string code = "return 1//";
  code.resize(600'000, 'x');
  const auto result = RunOne(Job("long", code));
  EXPECT_TRUE(IsError(result, "VALIDATION", "maxCodeBytes"));
  EXPECT_EQ(result.Error("fault"), "client");
  EXPECT_EQ(result.Error("started"), false);
}

TEST_F(PromisedBehaviour, ATenMegabyteResultAgainstFiveIsRefused) {
  const auto result = RunOne(Job("big", "return 'x'.repeat(10*1024*1024)"));
  EXPECT_TRUE(IsError(result, "VALIDATION", "maxResultBytes"));
  EXPECT_EQ(result.Error("fault"), "limit");
  EXPECT_EQ(result.Error("started"), true);
}

TEST_F(PromisedBehaviour, FifteenHundredStatusReportsWithALimitOfAHundredGiveAHundredEventsAndAResult) {
  const auto result =
      RunOne(Job("s", "for(let i=0;i<1500;i++)reportStatus(i);return 'done'").Limit("maxStatusEvents", 100));
  EXPECT_TRUE(IsOk(result, "done"));
  const auto events = result.Events("status");
  ASSERT_EQ(events.size(), 100u);
  for (std::size_t i = 0; i < events.size(); ++i) EXPECT_EQ(events[i].at("value"), i);
  EXPECT_EQ(result.Usage("statusEvents"), 100);
  EXPECT_EQ(result.Usage("droppedEvents"), 1400);
}

TEST_F(PromisedBehaviour, TwoThousandConsoleLogsGiveAThousandEventsAndAResult) {
  const auto result = RunOne(Job("c", "for(let i=0;i<2000;i++)console.log('line',i);return 'done'"));
  EXPECT_TRUE(IsOk(result, "done"));
  const auto texts = result.ConsoleTexts("log");
  ASSERT_EQ(texts.size(), 1000u);
  for (std::size_t i = 0; i < texts.size(); ++i) EXPECT_EQ(texts[i], "line " + std::to_string(i));
  EXPECT_EQ(result.Usage("consoleEvents"), 1000);
  EXPECT_EQ(result.Usage("droppedEvents"), 1000);
}

TEST_F(PromisedBehaviour, TheTwentyFirstHostCallIsRefused) {
  const RunOptions answers{.fixtures = Json{{"*", "answer"}}};
  const auto caught = RunOne(Job("caught", R"(
      let answered = 0, refusal = null;
      for (let i = 0; i < 21; i++) try { await dataProxy.request('m', i); answered++ } catch (e) { refusal = [i, e.name] }
      return [answered, refusal])"),
                             answers);
  EXPECT_TRUE(IsOk(caught, Json{20, {20, "SandboxLimitError"}}));
  EXPECT_EQ(caught.Usage("dataRequests"), 20);
  const auto uncaught = RunOne(Job("uncaught", "for(;;)await dataProxy.request('m')"), answers);
  EXPECT_TRUE(IsError(uncaught, "LIMIT", "maxDataRequests"));
  EXPECT_EQ(uncaught.Error("fault"), "limit");
}

TEST_F(PromisedBehaviour, HostAnswersPastMaxDataBytesAreRefused) {
  const RunOptions answers{.fixtures = Json{{"*", std::string(998, 'x')}}};  // 1000 bytes as JSON text
  const auto caught = RunOne(Job("caught", R"(
      let answered = 0, refusal = null;
      for (let i = 0; i < 4; i++) try { await dataProxy.request('m'); answered++ } catch (e) { refusal ??= [i, e.name] }
      return [answered, refusal])")
                                 .Limit("maxDataBytes", 2500),
                             answers);
  EXPECT_TRUE(IsOk(caught, Json{2, {2, "SandboxLimitError"}}));
  EXPECT_LE(caught.Usage("dataBytes"), 2500);
  const auto uncaught =
      RunOne(Job("uncaught", "for(;;)await dataProxy.request('m')").Limit("maxDataBytes", 2500), answers);
  EXPECT_TRUE(IsError(uncaught, "LIMIT", "maxDataBytes"));
}

TEST_F(PromisedBehaviour, AGlobalSetByOneJobIsNotThereForTheNext) {
  for (int round = 0; round < 4; ++round) {  // as many as there are slots: no isolate is reused unnoticed
    const auto result =
        RunOne(Job("g",
                   "const seen=[typeof globalThis.mark,'zz' in Array.prototype,Math.mark===1];"
                   "globalThis.mark=1;Array.prototype.zz=1;Math.mark=1;return seen"));
    EXPECT_TRUE(IsOk(result, Json{"undefined", false, false}));
  }
}

TEST_F(PromisedBehaviour, TwoJobsDrawDifferentRandomNumbers) {
  std::vector<Job> jobs;
  for (int i = 0; i < 20; ++i)
    jobs.emplace_back("r" + std::to_string(i), "return [Math.random(),Math.random()]");
  std::set<double> seen;
  const auto report = Run(jobs);
  for (const auto& job : jobs) {
    ASSERT_TRUE(IsOk(report.At(job.id())));
    for (const auto& number : report.At(job.id()).value()) {
      EXPECT_GE(number.get<double>(), 0);
      EXPECT_LT(number.get<double>(), 1);
      seen.insert(number.get<double>());
    }
  }
  EXPECT_EQ(seen.size(), 40u);
}

TEST_F(PromisedBehaviour, AJobThatYieldsForEverAfterItsReturnEndsAsTimeout) {
  const auto result =
      RunOne(Job("y", "(async()=>{for(;;)await null})();return 'returned'").Limit("timeoutMs", 300));
  EXPECT_TRUE(IsError(result, "TIMEOUT", "timeoutMs"));
}

TEST_F(PromisedBehaviour, APromiseThatCanNeverSettleIsSaidAtOnce) {
  const auto result = RunOne(Job("n", "await new Promise(()=>{})").Limit("timeoutMs", 10'000));
  EXPECT_TRUE(IsError(result, "RUNTIME"));
  EXPECT_LT(result.Usage("wallMs"), 200);
}

TEST_F(PromisedBehaviour, AHostCallThatIsStillOpenAtTheEndIsDropped) {
  const RunOptions answers{.fixtures = Json{{"slow", {{"$never", true}}}}};
  const auto result =
      RunOne(Job("d", "dataProxy.request('slow');return 'early'").Limit("timeoutMs", 10'000), answers);
  EXPECT_TRUE(IsOk(result, "early"));
  EXPECT_LT(result.Usage("wallMs"), 2000);
}

TEST_F(PromisedBehaviour, AnUnhandledRejectionIsOneErrorEventAndNotTheOutcome) {
  const auto result = RunOne(Job("u",
                                 "Promise.reject(new Error('lost'));"
                                 "Promise.reject(new Error('kept')).catch(()=>{});return 3"));
  EXPECT_TRUE(IsOk(result, 3));
  const auto texts = result.ConsoleTexts("error");
  ASSERT_EQ(texts.size(), 1u);
  EXPECT_NE(texts[0].find("lost"), std::string::npos) << texts[0];
}

TEST_F(PromisedBehaviour, ATimedOutJobKeepsTheEventsItSentBefore) {
  const auto result = RunOne(Job("e", "for(let i=0;i<50;i++){console.log('c'+i);reportStatus({i})}for(;;);")
                                 .Limit("timeoutMs", 300));
  EXPECT_TRUE(IsError(result, "TIMEOUT", "timeoutMs"));
  const auto events = result.Events();
  ASSERT_EQ(events.size(), 100u);
  for (std::size_t i = 0; i < 50; ++i) {
    EXPECT_EQ(events[2 * i].at("text"), "c" + std::to_string(i));
    EXPECT_EQ(events[2 * i + 1].at("value"), (Json{{"i", i}}));
  }
}

TEST_F(PromisedBehaviour, EveryFinalCarriesItsUsage) {
  const auto report = Run({Job("ok", kGood), Job("killed", "for(;;);").Limit("timeoutMs", 100),
                           Job("threw", "throw 1"), Job("refused", "return 1").Limit("timeoutMs", 0)});
  for (const char* id : {"ok", "killed", "threw", "refused"}) {
    for (const char* field :
         {"queueMs", "wallMs", "cpuMs", "memoryPeakBytes", "heapPeakBytes", "dataRequests", "dataBytes",
          "statusEvents", "consoleEvents", "droppedEvents", "resultBytes"}) {
      EXPECT_GE(report.At(id).Usage(field), 0) << id << " " << field;
    }
    EXPECT_EQ(report.At(id).Field("attempt"), 1) << id;
  }
  EXPECT_EQ(report.At("ok").Usage("resultBytes"), 1);
}

}  // namespace
}  // namespace skerry::testing
