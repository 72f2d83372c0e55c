// Jobs that share isolates (`reuse: "context"`), and jobs whose values are MessagePack, through the whole
// stack.
#include <cstdio>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "clients/cpp/client.h"
#include "tests/support/load.h"
#include "tests/support/pool.h"
#include "tests/support/run_log.h"

namespace skerry::testing {
namespace {

using namespace std::string_literals;

RunLog RunsOfWorker(const Pool& pool) {
  std::ifstream file(pool.worker_log(0));
  std::stringstream text;
  text << file.rdbuf();
  RunLog log;
  ReadRunLog(text.str(), log);
  return log;
}

Job Sharing(const std::string& id, const std::string& code) {
  return Job(id, code).Set("reuse", "context");
}

TEST(ReuseStack, JobsOfOneTenantShareIsolatesAndFindNothingOfEachOther) {
  Pool pool({.isolates = 2, .spares = 4, .worker_args = {"--log-level", "debug"}});
  std::vector<Job> jobs;
  for (int i = 0; i < 120; ++i) {
    const std::string number = std::to_string(i);
    Job job = i % 4 == 3 ? Job("j" + number, "") : Sharing("j" + number, "");
    job.Set(
        "code",
        "const left = [typeof mark, typeof ({}).mark, input]; globalThis.mark = Object.prototype.mark = 1;"
        "console.log(input); return left");
    jobs.push_back(job.Set("input", i).Tenant(i % 2 == 0 ? "even" : "odd"));
  }
  const RunReport report = pool.Run(jobs);
  std::map<pid_t, std::set<std::string>> tenants;
  std::map<pid_t, int> runs;
  std::map<pid_t, int> alone;
  const RunLog log = RunsOfWorker(pool);
  for (int i = 0; i < 120; ++i) {
    const std::string id = "j" + std::to_string(i);
    EXPECT_TRUE(IsOk(report.At(id), Json{"undefined", "undefined", i}));
    EXPECT_EQ(report.At(id).ConsoleTexts(), (std::vector<std::string>{std::to_string(i)}));
    EXPECT_EQ(report.At(id).Field("attempt"), 1);
    ASSERT_EQ(RunsOf(log, id), 1u);
    const pid_t pid = log.at(id)[0].pid;
    ++runs[pid];
    tenants[pid].insert(i % 2 == 0 ? "even" : "odd");
    alone[pid] += i % 4 == 3;
  }
  int shared = 0;
  for (const auto& [pid, count] : runs) {
    EXPECT_EQ(tenants[pid].size(), 1u) << "two tenants met in an isolate";
    EXPECT_TRUE(alone[pid] == 0 || count == 1) << "a job that wanted its own isolate shared one";
    shared += count > 1;
  }
  EXPECT_GT(shared, 0);
  EXPECT_LT(runs.size(), 100u);
}

TEST(ReuseStack, WhatEndsWhereOthersHadRunIsJudgedInAFreshIsolate) {
  Pool pool({.isolates = 1, .spares = 1});
  EXPECT_TRUE(IsOk(pool.RunOne(Sharing("before", "return 1")), 1));
  const RunReport report = pool.Run(
      {Sharing("a", "return 1"),
       Sharing("bomb", "const all = []; for (;;) all.push(new Array(1e5).fill(1.5))").Limit("memoryMb", 256),
       Sharing("b", "return 2"), Sharing("loop", "for (;;);").Limit("timeoutMs", 200),
       Sharing("c", "return 3")});
  EXPECT_TRUE(IsError(report.At("bomb"), "OOM", "memoryMb"));
  EXPECT_TRUE(IsError(report.At("loop"), "TIMEOUT", "timeoutMs"));
  EXPECT_EQ(report.At("bomb").Field("attempt"), 2);
  EXPECT_EQ(report.At("loop").Field("attempt"), 2);
  for (const char* id : {"a", "b", "c"}) EXPECT_TRUE(IsOk(report.At(id)));
}

// Both in one run, taking turns, so that what else the machine does is both's.
TEST(ReuseStack, SharedIsolatesCostLess) {
  Pool pool({.isolates = 2});
  const auto rate = [&](const char* reuse) {
    std::vector<Job> jobs;
    for (int i = 0; i < 600; ++i)
      jobs.push_back(Job("j" + std::to_string(i), "return input").Set("input", i).Set("reuse", reuse));
    const TimePoint start = SteadyClock::now();
    Load load(pool.client_url(), {.window = 16}, Each(jobs));
    EXPECT_EQ(load.Join().size(), 600u);
    return 600'000 / MillisBetween(start, SteadyClock::now());
  };
  double none = 0;
  double context = 0;
  for (int round = 0; round < 3; ++round) {
    none = std::max(none, rate("none"));
    context = std::max(context, rate("context"));
  }
  std::printf("%.0f jobs a second with isolates of their own, %.0f where they share them: %.2f times\n", none,
              context, context / none);
  EXPECT_GT(context, none);
}

TEST(MsgpackStack, ValuesCrossAsBytesBothWays) {
  Pool pool({.isolates = 1});
  ClientOptions options;
  options.broker = pool.client_url();
  std::string params;
  options.on_call = [&](const JobId&, std::string_view, std::string_view asked) {
    params = asked;
    return HostReply{HostReply::Kind::kValue, "\x92\x01\xa1x"};
  };
  auto client = Client::Connect(std::move(options));
  ASSERT_TRUE(client) << client.error().message;
  JobRequest request;
  request.spec.id = JobId("m");
  request.spec.encoding = Encoding::kMsgpack;
  request.code = "reportStatus({p: 0.5}); return [input, await dataProxy.request('m', [input])]";
  request.input = "\x81\xa1k\xcd\x01\x00"s;
  ASSERT_TRUE((*client)->Submit(request));
  std::string status;
  std::optional<Outcome> outcome;
  while (!outcome) {
    const auto event = (*client)->Next(Millis(20'000));
    ASSERT_TRUE(event) << pool.Logs();
    if (const auto* notice = std::get_if<JobNotice>(&*event)) status = notice->payload;
    if (const auto* final = std::get_if<JobFinal>(&*event)) outcome = final->outcome;
  }
  ASSERT_TRUE(outcome->ok()) << outcome->error->message;
  EXPECT_EQ(status, "\x81\xa1p\xcb\x3f\xe0\0\0\0\0\0\0"s);
  EXPECT_EQ(params, "\x91\x81\xa1k\xcd\x01\x00"s);
  EXPECT_EQ(outcome->value, "\x92\x81\xa1k\xcd\x01\x00\x92\x01\xa1x"s);
  EXPECT_EQ(outcome->usage.result_bytes, R"([{"k":256},[1,"x"]])"s.size());
}

}  // namespace
}  // namespace skerry::testing
