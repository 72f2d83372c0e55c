// `dataProxy.request` with every kind of fixture, and what a program can and cannot do with it.
#include "tests/support/pool.h"

namespace skerry::testing {
namespace {

using HostCalls = PoolTest;

RunOptions Fixtures(Json fixtures) {
  return {.fixtures = std::move(fixtures)};
}

TEST_F(HostCalls, AFixtureOfAnyJsonTypeIsTheAnswer) {
  const Json answers = {{"n", 1.5},     {"s", "text"},   {"b", false},
                        {"z", nullptr}, {"a", {1, {2}}}, {"o", {{"k", {{"d", 1}}}}}};
  const auto result = RunOne(Job("j",
                                 "const r={};for(const m of ['n','s','b','z','a','o'])"
                                 "r[m]=await dataProxy.request(m);return r"),
                             Fixtures(answers));
  EXPECT_TRUE(IsOk(result, answers));
  EXPECT_EQ(result.Usage("dataRequests"), 6);
}

TEST_F(HostCalls, AValueFixtureIsTheAnswerAfterItsDelay) {
  const auto result =
      RunOne(Job("j", "const t=Date.now();const v=await dataProxy.request('m');return [v,Date.now()-t]"),
             Fixtures({{"m", {{"$value", {{"x", 1}}}, {"$delayMs", 120}}}}));
  ASSERT_TRUE(IsOk(result));
  EXPECT_EQ(result.value().at(0), (Json{{"x", 1}}));
  EXPECT_GE(result.value().at(1).get<double>(), 118);
  EXPECT_LT(result.value().at(1).get<double>(), 1000);
}

TEST_F(HostCalls, DelayedAnswersComeInTheOrderOfTheirDelaysNotOfTheirCalls) {
  const auto result = RunOne(Job("j",
                                 "const order=[];await Promise.all(['slow','mid','fast'].map(async m=>{"
                                 "order.push(await dataProxy.request(m))}));return order"),
                             Fixtures({{"slow", {{"$value", "slow"}, {"$delayMs", 300}}},
                                       {"mid", {{"$value", "mid"}, {"$delayMs", 150}}},
                                       {"fast", "fast"}}));
  EXPECT_TRUE(IsOk(result, Json{"fast", "mid", "slow"}));
}

TEST_F(HostCalls, AnErrorFixtureRejectsWithItsMessage) {
  const Json fixtures = {{"m", {{"$error", "no such record: \u00e9\U0001f600"}}}};
  const auto caught =
      RunOne(Job("c", "try{await dataProxy.request('m')}catch(e){return [e instanceof Error,e.message]}"),
             Fixtures(fixtures));
  EXPECT_TRUE(IsOk(caught, Json{true, "no such record: \u00e9\U0001f600"}));
  const auto uncaught = RunOne(Job("u", "await dataProxy.request('m')"), Fixtures(fixtures));
  EXPECT_TRUE(IsError(uncaught, "RUNTIME"));
  EXPECT_NE(uncaught.message().find("no such record"), std::string::npos);
}

TEST_F(HostCalls, ANeverFixtureLeavesTheJobToItsTimeout) {
  const auto result = RunOne(Job("j", "await dataProxy.request('m')").Limit("timeoutMs", 300),
                             Fixtures({{"m", {{"$never", true}}}}));
  EXPECT_TRUE(IsError(result, "TIMEOUT", "timeoutMs"));
  EXPECT_LT(result.Usage("cpuMs"), 150);
}

TEST_F(HostCalls, TheStarAnswersEveryOtherMethod) {
  const auto result = RunOne(Job("j",
                                 "return [await dataProxy.request('named'),await dataProxy.request('other'),"
                                 "await dataProxy.request('')]"),
                             Fixtures({{"named", 1}, {"*", "rest"}}));
  EXPECT_TRUE(IsOk(result, Json{1, "rest", "rest"}));
}

TEST_F(HostCalls, AnUnknownMethodWithoutAStarRejects) {
  const auto result = RunOne(Job("j",
                                 "try{await dataProxy.request('gone')}catch(e){return [e instanceof "
                                 "Error,e.message.includes('gone')]}"),
                             Fixtures({{"other", 1}}));
  EXPECT_TRUE(IsOk(result, Json{true, true}));
}

TEST_F(HostCalls, WithoutAnyFixturesEveryCallRejectsAndTheJobGoesOn) {
  EXPECT_TRUE(
      IsOk(RunOne(Job("j", "try{await dataProxy.request('m')}catch(e){return 'rejected'}")), "rejected"));
}

TEST_F(HostCalls, AValueThatLooksLikeACommandIsPlainInsideAValueFixture) {
  const auto result =
      RunOne(Job("j", "return dataProxy.request('m')"), Fixtures({{"m", {{"$value", {{"$error", "x"}}}}}}));
  EXPECT_TRUE(IsOk(result, Json{{"$error", "x"}}));
}

TEST_F(HostCalls, ConcurrentJobsGetTheirOwnAnswers) {
  // The delay makes their calls overlap; each answer is told apart by the job's own method.
  Json fixtures = Json::object();
  std::vector<Job> jobs;
  for (int i = 0; i < 24; ++i) {
    const std::string method = "m" + std::to_string(i);
    fixtures[method] = {{"$value", i}, {"$delayMs", 10 + (i * 7) % 40}};
    jobs.push_back(Job(method, "let s=0;for(let k=0;k<5;k++)s+=await dataProxy.request(input);return s")
                       .Set("input", method));
  }
  const auto report = Run(jobs, Fixtures(fixtures));
  for (int i = 0; i < 24; ++i) EXPECT_TRUE(IsOk(report.At("m" + std::to_string(i)), 5 * i));
}

TEST_F(HostCalls, TheProxyIsFrozenAndItsRequestWorksUnbound) {
  const auto result = RunOne(Job("j", R"(
      'use strict';
      const changes = [];
      for (const change of [() => { dataProxy.request = 1 }, () => { delete dataProxy.request }, () => { dataProxy.x = 1 }])
        try { change(); changes.push('changed') } catch (e) { changes.push(e.name) }
      const { request } = dataProxy;
      return [changes, Object.keys(dataProxy), Object.isFrozen(dataProxy), await request('m')])"),
                             Fixtures({{"*", "free"}}));
  EXPECT_TRUE(
      IsOk(result,
           Json{{"TypeError", "TypeError", "TypeError"}, std::vector<std::string>{"request"}, true, "free"}));
}

TEST_F(HostCalls, AMethodThatIsNoStringRejectsAndAsksNobody) {
  const auto result = RunOne(Job("j",
                                 "const r=await Promise.allSettled([1,null,undefined,{},Symbol('m')]"
                                 ".map(m=>dataProxy.request(m)));return r.map(x=>x.status)"),
                             Fixtures({{"*", 1}}));
  EXPECT_TRUE(IsOk(result, Json(std::vector<std::string>(5, "rejected"))));
  EXPECT_EQ(result.Usage("dataBytes"), 0);
}

TEST_F(HostCalls, ParamsThatCannotBeConvertedRejectTheCallOnly) {
  const auto result = RunOne(Job("j", R"(
      const cycle = {}; cycle.self = cycle;
      const bad = [cycle, 1n, { get x() { throw new RangeError('mine') } }, { toJSON() { throw 7 } }];
      const r = await Promise.allSettled(bad.map(p => dataProxy.request('m', p)));
      return [r.map(x => x.status), r[2].reason.message, r[3].reason, await dataProxy.request('m', { fine: 1 })])"),
                             Fixtures({{"m", "yes"}}));
  EXPECT_TRUE(IsOk(result, Json{std::vector<std::string>(4, "rejected"), "mine", 7, "yes"}));
}

TEST_F(HostCalls, ALimitErrorIsAnErrorThatNamesItsLimit) {
  const auto result = RunOne(Job("j",
                                 "try{await dataProxy.request('m')}catch(e){"
                                 "return [e instanceof Error,e.name,e.limit,typeof e.message]}")
                                 .Limit("maxDataRequests", 0));
  EXPECT_TRUE(IsOk(result, Json{true, "SandboxLimitError", "maxDataRequests", "string"}));
}

TEST_F(HostCalls, AForgedLimitErrorIsTheProgramsOwn) {
  const auto result = RunOne(Job("j",
                                 "const e=new Error('forged');e.name='SandboxLimitError';"
                                 "e.limit='maxDataRequests';throw e"));
  EXPECT_TRUE(IsError(result, "RUNTIME"));
  EXPECT_EQ(result.Error("fault"), "program");
}

TEST_F(HostCalls, ALimitErrorInsideAnotherErrorIsTheProgramsOwn) {
  const auto result =
      RunOne(Job("j", "try{await dataProxy.request('m')}catch(e){throw new Error('outer',{cause:e})}")
                 .Limit("maxDataRequests", 0));
  EXPECT_TRUE(IsError(result, "RUNTIME"));
}

TEST_F(HostCalls, AMegabyteAnswerArrivesWhole) {
  const std::string big(1 << 20, 'y');
  const auto result = RunOne(Job("j", "const v=await dataProxy.request('m');return [v.length,v[0],v.at(-1)]"),
                             Fixtures({{"m", big}}));
  EXPECT_TRUE(IsOk(result, Json{1 << 20, "y", "y"}));
  EXPECT_EQ(result.Usage("dataBytes"), (1 << 20) + 2);
}

}  // namespace
}  // namespace skerry::testing
