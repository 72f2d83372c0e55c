#include "worker/engine/host_calls.h"

#include <gtest/gtest.h>

#include <string>

#include "worker/engine/testing/forked_run.h"

namespace skerry::engine {
namespace {

TEST(HostCalls, CarryMethodAndParamsAsJson) {
  const Ending ending = RunCode(
      "await dataProxy.request('rows', {a: [1, undefined], b: undefined}); await dataProxy.request('é');"
      "await dataProxy.request('f', () => 1); return 1");
  ASSERT_EQ(ending.calls.size(), 3u) << ending.Describe();
  EXPECT_EQ(ending.calls[0].call, 1u);
  EXPECT_EQ(ending.calls[0].method, "rows");
  EXPECT_EQ(ending.calls[0].params, R"({"a":[1,null]})");
  EXPECT_EQ(ending.calls[1].method, "é");
  EXPECT_EQ(ending.calls[1].params, "null");
  EXPECT_EQ(ending.calls[2].params, "null");
}

TEST(HostCalls, AnswersInAnyOrderReachTheirCall) {
  ForkedRun run("return await Promise.all([1, 2, 3].map(i => dataProxy.request('m', i)))");
  run.answer = [](const SeenCall& seen) {
    const std::uint32_t call = 4 - seen.call;
    return HostAnswer{call, HostAnswer::Kind::kValue, "\"answer " + std::to_string(call) + "\""};
  };
  EXPECT_EQ(run.Go().outcome.value, R"(["answer 1","answer 2","answer 3"])");
}

TEST(HostCalls, AnErrorRejectsWithItsMessage) {
  ForkedRun run("try { await dataProxy.request('m') } catch (e) { return [e instanceof Error, e.message] }");
  run.answer = [](const SeenCall& seen) {
    return HostAnswer{seen.call, HostAnswer::Kind::kError, "no such row"};
  };
  EXPECT_EQ(run.Go().outcome.value, R"([true,"no such row"])");
}

TEST(HostCalls, AnAnswerThatIsNoJsonRejects) {
  ForkedRun run("try { await dataProxy.request('m') } catch (e) { return e.name }");
  run.answer = [](const SeenCall& seen) { return HostAnswer{seen.call, HostAnswer::Kind::kValue, "{nope"}; };
  EXPECT_EQ(run.Go().outcome.value, "\"SyntaxError\"");
}

TEST(HostCalls, AMethodThatIsNoStringRejectsUncounted) {
  const Ending ending = RunCode(
      "const names = []; for (const m of [undefined, 5, {toString() { return 'x' }}])"
      "try { await dataProxy.request(m) } catch (e) { names.push(e.name) } return names");
  EXPECT_EQ(ending.outcome.value, R"(["TypeError","TypeError","TypeError"])");
  EXPECT_EQ(ending.outcome.usage.data_requests, 0u);
}

TEST(HostCalls, ParamsThatDoNotConvertRejectWithWhatWasThrown) {
  const Ending ending = RunCode(
      "const thrown = []; for (const p of [1n, {toJSON() { throw 'mine' }}])"
      "await dataProxy.request('m', p).catch(e => thrown.push(e.name ?? e)); return thrown");
  EXPECT_EQ(ending.outcome.value, R"(["TypeError","mine"])");
  EXPECT_TRUE(ending.calls.empty());
}

TEST(MaxDataRequests, ExactlyTheLimitPassesAndTheNextRejects) {
  ForkedRun run(
      "let n = 0; try { for (;;) { await dataProxy.request('m'); n++ } } catch (e) { return [n, e.name, "
      "e.limit, e instanceof Error] }");
  run.With(LimitId::kMaxDataRequests, 3);
  const Ending ending = run.Go();
  EXPECT_EQ(ending.outcome.value, R"([3,"SandboxLimitError","maxDataRequests",true])") << ending.Describe();
  EXPECT_EQ(ending.outcome.usage.data_requests, 3u);
  EXPECT_EQ(ending.calls.size(), 3u);
  EXPECT_EQ(ending.tripped, std::vector<std::string>{"maxDataRequests"});
}

TEST(MaxParamsBytes, ARefusalThatTheProgramCatchesIsToldOnce) {
  ForkedRun run(
      "for (let i = 0; i < 3; i++) await dataProxy.request('m', 'x'.repeat(100)).catch(() => {}); return 1");
  run.With(LimitId::kMaxParamsBytes, 50);
  const Ending ending = run.Go();
  EXPECT_EQ(ending.outcome.value, "1") << ending.Describe();
  EXPECT_EQ(ending.tripped, std::vector<std::string>{"maxParamsBytes"});
}

TEST(MaxDataRequests, CountsAtCallTime) {
  ForkedRun run(
      "const r = await Promise.allSettled(Array.from({length: 50}, () => dataProxy.request('m'))); return "
      "r.filter(x => x.status === 'fulfilled').length");
  EXPECT_EQ(run.Go().outcome.value, "20");
}

TEST(MaxDataRequests, ReentrantCallsFromToJsonCannotPassIt) {
  ForkedRun run(
      "const evil = {toJSON() { for (let i = 0; i < 5; i++) dataProxy.request('inner').catch(() => {}); "
      "return 1 }};"
      "await dataProxy.request('outer', evil).catch(() => {}); return 1");
  run.With(LimitId::kMaxDataRequests, 3);
  const Ending ending = run.Go();
  EXPECT_EQ(ending.calls.size(), 3u);
  EXPECT_EQ(ending.outcome.usage.data_requests, 3u);
}

TEST(MaxDataRequests, UncaughtItIsALimitOutcome) {
  ForkedRun run("for (;;) await dataProxy.request('m')");
  const Ending ending = run.Go();
  ASSERT_EQ(ending.Verdict(), "LIMIT");
  EXPECT_EQ(ending.outcome.error->limit, "maxDataRequests");
  EXPECT_EQ(ending.outcome.error->fault, Fault::kLimit);
  EXPECT_EQ(ending.outcome.error->name, "SandboxLimitError");
}

TEST(MaxDataRequests, TheVeryObjectCountsHoweverItIsDressedAndACopyDoesNot) {
  const std::string trip = "let e; try { for (;;) await dataProxy.request('m') } catch (x) { e = x }";
  EXPECT_EQ(RunCode(trip + "e.name = 'Mine'; e.limit = 'x'; throw e").Verdict(), "LIMIT");
  EXPECT_EQ(RunCode(trip + "throw Object.assign(new Error(e.message), e, {name: e.name, limit: e.limit})")
                .Verdict(),
            "RUNTIME");
  EXPECT_EQ(RunCode(trip + "throw Object.create(e)").Verdict(), "RUNTIME");
  EXPECT_EQ(RunCode(trip + "throw new Proxy(e, {})").Verdict(), "RUNTIME");
  EXPECT_EQ(RunCode(trip + "return 'went on'").outcome.value, "\"went on\"");
}

TEST(MaxDataBytes, ExactlyTheLimitPassesAndOneMoreIsNotDelivered) {
  ForkedRun run("return [await dataProxy.request('a'), await dataProxy.request('b').catch(e => e.limit)]");
  run.answer = [](const SeenCall& seen) {
    return HostAnswer{seen.call, HostAnswer::Kind::kValue, "\"12345678\""};
  };
  run.With(LimitId::kMaxDataBytes, 20);
  const Ending exact = run.Go();
  EXPECT_EQ(exact.outcome.value, R"(["12345678","12345678"])");
  EXPECT_EQ(exact.outcome.usage.data_bytes, 20u);
  run.With(LimitId::kMaxDataBytes, 19);
  const Ending over = run.Go();
  EXPECT_EQ(over.outcome.value, R"(["12345678","maxDataBytes"])");
  EXPECT_EQ(over.outcome.usage.data_bytes, 10u);
}

TEST(MaxDataBytes, ARefusalByTheWorkerIsTheSame) {
  ForkedRun run("await dataProxy.request('a')");
  run.answer = [](const SeenCall& seen) { return HostAnswer{seen.call, HostAnswer::Kind::kRefused, ""}; };
  const Ending ending = run.Go();
  ASSERT_EQ(ending.Verdict(), "LIMIT");
  EXPECT_EQ(ending.outcome.error->limit, "maxDataBytes");
}

TEST(MaxParamsBytes, ExactlyTheLimitPassesAndOneMoreRejects) {
  ForkedRun run(
      "return await dataProxy.request('method', 'é'.repeat(6)).catch(e => e.limit)");  // 6 + 12 + 2 bytes
  run.With(LimitId::kMaxParamsBytes, 20);
  EXPECT_EQ(run.Go().outcome.value, "\"answer\"");
  run.With(LimitId::kMaxParamsBytes, 19);
  const Ending over = run.Go();
  EXPECT_EQ(over.outcome.value, "\"maxParamsBytes\"");
  EXPECT_EQ(over.outcome.usage.data_requests, 0u);
  EXPECT_TRUE(over.calls.empty());
}

TEST(HostCalls, APollutedThenStaysInsideTheJob) {
  EXPECT_EQ(
      RunCode(
          "Object.prototype.then = function (r) { r('hijack') }; return typeof await dataProxy.request('x')")
          .outcome.value,
      "\"string\"");
}

}  // namespace
}  // namespace skerry::engine
