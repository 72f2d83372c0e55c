// What becomes of jobs whose programs, or tenants, keep crashing: told through the core.
#include <gtest/gtest.h>

#include "broker/testing/core_harness.h"
#include "common/logging.h"

namespace skerry::broker {
namespace {

using testing::ClientPeer;
using testing::CoreHarness;
using testing::WorkerPeer;

BrokerConfig With(const CrashRules& rules) {
  BrokerConfig config;
  config.crashes = rules;
  return config;
}

constexpr CrashRules kStrict{2, 4, Millis(100'000), Millis(5'000)};

class CrashingJobs : public ::testing::Test {
 protected:
  explicit CrashingJobs(const CrashRules& rules = kStrict) : broker_(With(rules)) {
    broker_.ConnectClient("c", "s");
    broker_.ConnectWorker("w", 1);
  }
  static JobSpec Spec(const std::string& tenant = "t") {
    JobSpec spec;
    static int number = 0;
    spec.id = JobId("j" + std::to_string(++number));
    spec.tenant = TenantId(tenant);
    return spec;
  }
  void Crash(LeaseId lease, std::uint32_t attempt = 1) {
    wire::Final final;
    final.lease = lease;
    final.attempt = attempt;
    final.code = Code::kCrash;
    final.started = true;
    broker_.Say(WorkerPeer("w"), final, {""});
  }
  /// Submits and has crash.
  void RunAndCrash(int times, const std::string& tenant = "t", const std::string& code = "code") {
    for (int i = 0; i < times; ++i) {
      broker_.Submit("c", Spec(tenant), code);
      Crash(broker_.LastLease("w"));
    }
  }
  /// Nothing when a job of it runs, else the final.
  std::optional<wire::Final> Try(const std::string& tenant = "t", const std::string& code = "code") {
    broker_.Clear();
    broker_.Submit("c", Spec(tenant), code);
    if (!broker_.ToWorker<wire::Dispatch>("w").empty()) {
      broker_.FinishOk(WorkerPeer("w"), broker_.LastLease("w"));
      return std::nullopt;
    }
    return broker_.OnlyFinal("c");
  }
  std::uint64_t rejected() const {
    return broker_.core.counters().rejected[static_cast<std::size_t>(Rejection::kCrashes)];
  }

  CoreHarness broker_;
};

TEST_F(CrashingJobs, TheThresholdsNextSubmissionIsRateLimitedWithWhatRemains) {
  RunAndCrash(1);
  EXPECT_FALSE(Try());
  RunAndCrash(1);
  broker_.Pass(Millis(1'000), {ClientPeer("c"), WorkerPeer("w")});
  const auto refused = Try();
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->code, Code::kRateLimited);
  EXPECT_EQ(refused->fault, Fault::kClient);
  EXPECT_EQ(refused->limit, "");
  EXPECT_FALSE(refused->started);
  EXPECT_TRUE(refused->retryable);
  EXPECT_EQ(refused->retry_after_ms, 4'000u);
  EXPECT_EQ(broker_.MessageOfLast("c"),
            "this program of tenant 't' crashed 2 times within 100000 ms: refused for another 4000 ms");
  EXPECT_EQ(rejected(), 1u);
  EXPECT_TRUE(broker_.ToClient<wire::Accepted>("c").empty());
}

class JobsThatMayCrashOnce : public CrashingJobs {
 protected:
  JobsThatMayCrashOnce() : CrashingJobs({1, 4, Millis(100'000), Millis(5'000)}) {}
};

TEST_F(JobsThatMayCrashOnce, AreSaidToHaveCrashedOneTime) {
  RunAndCrash(1);
  ASSERT_TRUE(Try());
  EXPECT_EQ(broker_.MessageOfLast("c"),
            "this program of tenant 't' crashed 1 time within 100000 ms: refused for another 5000 ms");
}

TEST_F(CrashingJobs, OtherProgramsAndOtherTenantsGoOn) {
  RunAndCrash(2);
  EXPECT_TRUE(Try());
  EXPECT_FALSE(Try("t", "other code"));
  EXPECT_FALSE(Try("another tenant"));
}

TEST_F(CrashingJobs, ATenantWhoseProgramsChangeEachTimeIsRefusedAsAWhole) {
  for (int i = 0; i < 3; ++i) RunAndCrash(1, "t", "code " + std::to_string(i));
  EXPECT_FALSE(Try("t", "good"));
  RunAndCrash(1, "t", "code 4");
  ASSERT_TRUE(Try("t", "good"));
  EXPECT_EQ(broker_.MessageOfLast("c"),
            "jobs of tenant 't' crashed 4 times within 100000 ms: refused for another 5000 ms");
  EXPECT_FALSE(Try("another tenant", "good"));
}

TEST_F(CrashingJobs, WhoIsRefusedIsTakenAgainWhenTheTimeIsOver) {
  RunAndCrash(2);
  broker_.Pass(Millis(4'999), {ClientPeer("c"), WorkerPeer("w")});
  EXPECT_EQ(Try()->retry_after_ms, 1u);
  broker_.Pass(Millis(1), {ClientPeer("c"), WorkerPeer("w")});
  EXPECT_FALSE(Try());
}

TEST_F(CrashingJobs, CopiesThatWaitDoNotGoOnProbing) {
  for (int i = 0; i < 20; ++i) broker_.Submit("c", Spec());
  const JobSpec innocent = Spec();
  broker_.Submit("c", innocent, "other code");
  Crash(broker_.LastLease("w"));
  EXPECT_EQ(broker_.core.queued(), 19u);
  broker_.Clear();
  Crash(LeaseId(2));
  const auto finals = broker_.ToClient<wire::Final>("c");
  ASSERT_EQ(finals.size(), 1u + 18u);
  for (std::size_t i = 1; i < finals.size(); ++i) {
    EXPECT_EQ(finals[i].code, Code::kRateLimited);
    EXPECT_EQ(finals[i].retry_after_ms, 5'000u);
    EXPECT_FALSE(finals[i].started);
  }
  EXPECT_EQ(broker_.core.counters().refused_in_queue, 18u);
  EXPECT_EQ(rejected(), 0u);
  EXPECT_EQ(broker_.core.queued(), 0u);
  ASSERT_EQ(broker_.ToWorker<wire::Dispatch>("w").size(), 1u);
  EXPECT_EQ(broker_.ToWorker<wire::Dispatch>("w")[0].job.id, innocent.id);
}

TEST_F(CrashingJobs, AJobThatMayHaveRunBeforeItsWorkerWasLostDoesNotSayThatItDidNot) {
  broker_.ConnectWorker("w2", 1);
  broker_.Submit("c", Spec());  // one of them is on each worker
  broker_.Submit("c", Spec());
  ASSERT_EQ(broker_.ToWorker<wire::Dispatch>("w2").size(), 1u);
  Crash(broker_.LastLease("w"));
  broker_.Submit("c", Spec());
  broker_.Clear();
  broker_.Say(WorkerPeer("w2"), wire::Bye{});
  Crash(LeaseId(3));
  const auto finals = broker_.ToClient<wire::Final>("c");
  ASSERT_EQ(finals.size(), 2u);
  EXPECT_EQ(finals[1].code, Code::kRateLimited);
  EXPECT_TRUE(finals[1].started);
}

TEST_F(CrashingJobs, OnlyACrashOfAJobThatHadStartedCounts) {
  for (int i = 0; i < 3; ++i) {
    broker_.Submit("c", Spec());
    wire::Final final;
    final.lease = broker_.LastLease("w");
    final.code = i == 0 ? Code::kCrash : i == 1 ? Code::kOom : Code::kTimeout;
    final.started = i != 0;
    broker_.Say(WorkerPeer("w"), final, {""});
  }
  RunAndCrash(1);
  EXPECT_FALSE(Try());
  RunAndCrash(1);
  EXPECT_TRUE(Try());
}

// Else a program that crashes by the toss of a coin, or asks its client by a host call whether to, could go
// on for ever.
TEST_F(CrashingJobs, ACrashCountsHoweverTheNextRunOfTheJobEnded) {
  for (const bool ok : {true, false}) {
    broker_.Submit("c", Spec());
    wire::Final final;
    final.lease = broker_.LastLease("w");
    final.attempt = 2;
    final.ok = ok;
    final.code = Code::kTimeout;
    final.started = true;
    final.crashes = 1;
    broker_.Say(WorkerPeer("w"), final, {""});
    EXPECT_EQ(broker_.OnlyFinal("c").crashes, 0u) << "its client knows it by its attempt";
    broker_.Clear();
  }
  EXPECT_TRUE(Try());
}

TEST_F(CrashingJobs, ACrashedJobCountsOnceWhateverItsRuns) {
  broker_.Submit("c", Spec());
  wire::Final final;
  final.lease = broker_.LastLease("w");
  final.attempt = 2;
  final.code = Code::kCrash;
  final.started = true;
  final.crashes = 2;
  broker_.Say(WorkerPeer("w"), final, {""});
  EXPECT_FALSE(Try());
}

TEST_F(CrashingJobs, ACrashCountsAlsoWhenItsClientHasGone) {
  for (int i = 0; i < 2; ++i) {
    broker_.ConnectClient("hit and run", "h" + std::to_string(i));
    broker_.Submit("hit and run", Spec());
    broker_.Say(ClientPeer("hit and run"), wire::Bye{});
    Crash(broker_.LastLease("w"));
  }
  EXPECT_TRUE(Try());
}

TEST_F(CrashingJobs, TheBeginningOfARefusalIsLoggedOnceWithItsProgramAndTenant) {
  ASSERT_TRUE(InitLogging("broker", "warn"));
  ::testing::internal::CaptureStderr();
  JobSpec spec = Spec();
  for (int i = 0; i < 3; ++i) {
    spec = Spec();
    spec.code_hash = std::string(32, '\x5a');
    broker_.Submit("c", spec);
    if (i < 2) Crash(broker_.LastLease("w"));
  }
  const std::string log = ::testing::internal::GetCapturedStderr();
  ASSERT_TRUE(InitLogging("broker", "off"));
  const std::size_t line = log.find("program keeps crashing: it is refused for a while");
  ASSERT_NE(line, std::string::npos) << log;
  EXPECT_EQ(log.find("keeps crashing", line + 10), std::string::npos) << log;
  for (const char* field : {"tenant=t", "program=5a5a5a5a", "crashes=2", "refusedMs=5000"})
    EXPECT_NE(log.find(field), std::string::npos) << log;
}

TEST_F(CrashingJobs, AProgramThatItsClientDoesNotNameIsLoggedAsUnnamed) {
  ASSERT_TRUE(InitLogging("broker", "warn"));
  ::testing::internal::CaptureStderr();
  RunAndCrash(2);
  const std::string log = ::testing::internal::GetCapturedStderr();
  ASSERT_TRUE(InitLogging("broker", "off"));
  EXPECT_NE(log.find("program=unnamed"), std::string::npos) << log;
}

}  // namespace
}  // namespace skerry::broker
