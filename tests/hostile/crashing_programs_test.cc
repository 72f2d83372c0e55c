// Programs that crash for real, time and again, are kept from probing further, and nobody else is.
#include <thread>

#include "tests/support/pool.h"
#include "tests/support/variable.h"

namespace skerry::testing {
namespace {

class CrashingPrograms : public ::testing::Test {
 protected:
  static PoolOptions Options() {
    PoolOptions options;
    options.isolates = 1;
    options.broker_args = {"--program-crashes", "3", "--crash-refusal-ms", "5000"};
    // Its isolates run native code by the name that a job's code has: `mount` is killed for what it calls.
    options.worker_args = {"--cell", Binary("skerry-compromised-cell")};
    return options;
  }
  static Job Crasher(const std::string& id, const std::string& tenant = "prober") {
    return Job(id, "mount").Set("retry", "never").Tenant(tenant);
  }
  static void ExpectRefused(const JobResult& result) {
    EXPECT_TRUE(IsError(result, "RATE_LIMITED")) << Shown(result);
    EXPECT_EQ(result.Error("fault"), "client");
    EXPECT_EQ(result.Error("started"), false);
    EXPECT_EQ(result.Error("retryable"), true);
    EXPECT_GT(result.Error("retryAfterMs"), 0);
    EXPECT_LE(result.Error("retryAfterMs"), 5'000);
    EXPECT_NE(result.message().find("this program of tenant 'prober' crashed 3 times"), std::string::npos)
        << Shown(result);
  }

  Pool pool_{Options()};
};

TEST_F(CrashingPrograms, AreRefusedForAWhileAndNobodyElseIs) {
  for (const char* id : {"1", "2", "3"})
    EXPECT_TRUE(IsError(pool_.RunOne(Crasher(id)), "CRASH")) << pool_.Logs();
  const JobResult refused = pool_.RunOne(Crasher("4"));
  ExpectRefused(refused);
  EXPECT_TRUE(IsOk(pool_.RunOne(Job("good", "hello").Tenant("prober")), "hello")) << pool_.Logs();
  EXPECT_TRUE(IsError(pool_.RunOne(Crasher("other", "another tenant")), "CRASH")) << pool_.Logs();
  EXPECT_NE(pool_.Logs().find("program keeps crashing: it is refused for a while"), std::string::npos);

  std::this_thread::sleep_for(std::chrono::milliseconds(refused.Error("retryAfterMs").get<int>()));
  EXPECT_TRUE(IsError(pool_.RunOne(Crasher("later")), "CRASH")) << pool_.Logs();
}

TEST_F(CrashingPrograms, HaveTheirQueuedCopiesRefusedToo) {
  std::vector<Job> jobs;
  for (int i = 0; i < 30; ++i) jobs.push_back(Crasher("copy " + std::to_string(i)));
  const RunReport report = pool_.Run(jobs);
  int crashed = 0;
  for (const Job& job : jobs) {
    const JobResult& result = report.At(job.id());
    if (result.code() == "CRASH") {
      ++crashed;
    } else {
      ExpectRefused(result);
    }
  }
  EXPECT_EQ(crashed, 3) << pool_.Logs();
}

/// A program for --worker-program, whose isolates run native code as those of CrashingPrograms do.
std::string HostileWorker(const TempDir& dir) {
  const std::string path = dir / "worker";
  WriteFile(path, "#!/bin/sh\nexec " + Binary("skerry-worker").string() + " --cell " +
                      Binary("skerry-compromised-cell").string() + " \"$@\"\n");
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path;
}

TEST(CrashingProgramsOfAPrivatePool, AreNeverRefused) {
  const TempDir dir;
  std::vector<Job> jobs;
  for (int i = 0; i < 60; ++i)
    jobs.push_back(Job("copy " + std::to_string(i), "mount").Set("retry", "never").Tenant("only"));
  const RunReport report = RunJobs(jobs, {.args = {"--worker-program", HostileWorker(dir)}});
  for (const Job& job : jobs) EXPECT_TRUE(IsError(report.At(job.id()), "CRASH"));
}

TEST(SandboxOfAPrivatePool, IsWeakenedByItsFlagAndVariableAndNotByTheWorkersVariable) {
  const TempDir dir;
  // `mount` ends an isolate behind the filter, and is merely refused to it without.
  const Job job = Job("a", "mount").Set("retry", "never");
  const std::string worker = HostileWorker(dir);
  const Variable of_workers("SKERRY_WORKER_SANDBOX", "off");
  EXPECT_TRUE(IsError(RunJobs({job}, {.args = {"--worker-program", worker}}).At("a"), "CRASH"));
  EXPECT_NE(RunJobs({job}, {.args = {"--worker-program", worker, "--sandbox", "off"}}).At("a").code(),
            "CRASH");
  const Variable of_clients("SKERRY_CLIENT_SANDBOX", "off");
  EXPECT_NE(RunJobs({job}, {.args = {"--worker-program", worker}}).At("a").code(), "CRASH");
}

}  // namespace
}  // namespace skerry::testing
