#include "worker/agent/jobs/job_plan.h"

#include <gtest/gtest.h>

namespace skerry::agent {
namespace {

wire::Dispatch With(RequestedLimits limits) {
  wire::Dispatch dispatch;
  dispatch.lease = LeaseId(1);
  dispatch.job.id = JobId("j");
  dispatch.job.limits = std::move(limits);
  return dispatch;
}

std::string RefusedField(RequestedLimits limits, std::vector<std::string> payloads = {"1", ""}) {
  const auto planned = PlanJob(With(std::move(limits)), std::move(payloads), 1024);
  const auto* refused = std::get_if<JobError>(&planned);
  if (refused == nullptr) return "accepted";
  EXPECT_EQ(refused->code, Code::kValidation);
  EXPECT_FALSE(refused->started);
  return refused->limit;
}

TEST(PlanJob, NamesEveryLimitThatIsSetToTheIsolate) {
  auto planned = PlanJob(With({{"timeoutMs", 5}}), {"return 1", "2"}, 1024);
  const auto& plan = std::get<JobPlan>(planned);
  EXPECT_EQ(plan.code, "return 1");
  EXPECT_EQ(plan.input, "2");
  EXPECT_EQ(plan.limits.timeout_ms(), 5u);
  EXPECT_EQ(plan.limits.memory_mb(), 256u);
  EXPECT_EQ(plan.dispatch.job.memory_mb, 256u);
  EXPECT_EQ(plan.dispatch.job.limits.size(), kLimitCount - 1) << "all but cpuMs, which is not set";
}

TEST(PlanJob, TakesWhatAnyOperatorMayAllowAndNoMore) {
  EXPECT_EQ(RefusedField({{"timeoutMs", 86'400'000}}), "accepted");
  EXPECT_EQ(RefusedField({{"timeoutMs", 86'400'001}}), "timeoutMs");
  EXPECT_EQ(RefusedField({{"cpuMs", 0}}), "cpuMs");
  EXPECT_EQ(RefusedField({{"nonsense", 1}}), "nonsense");
}

TEST(PlanJob, RefusesSeedsAndClocksPastTheirBounds) {
  wire::Dispatch dispatch = With({});
  dispatch.job.seed = kMaxSeed;
  dispatch.job.clock_ms = kMaxClockMs;
  EXPECT_TRUE(std::holds_alternative<JobPlan>(PlanJob(dispatch, {"1", ""}, 1024)));
  dispatch.job.clock_ms = kMaxClockMs + 1;
  EXPECT_TRUE(std::holds_alternative<JobError>(PlanJob(dispatch, {"1", ""}, 1024)));
  dispatch.job.clock_ms.reset();
  dispatch.job.seed = kMaxSeed + 1;
  EXPECT_TRUE(std::holds_alternative<JobError>(PlanJob(dispatch, {"1", ""}, 1024)));
}

TEST(PlanJob, RefusesAJobLargerThanTheCellsCanGive) {
  EXPECT_EQ(RefusedField({{"memoryMb", 1024}}), "accepted");
  EXPECT_EQ(RefusedField({{"memoryMb", 1025}}), "memoryMb");
}

TEST(PlanJob, RefusesCodePastItsLimitAtTheEdge) {
  EXPECT_EQ(RefusedField({{"maxCodeBytes", 4}}, {"1234", ""}), "accepted");
  EXPECT_EQ(RefusedField({{"maxCodeBytes", 4}}, {"12345", ""}), "maxCodeBytes");
}

TEST(PlanJob, RefusesBytesThatV8WouldReadAsSomethingElse) {
  const std::string bad = "return 1//\xff\xfe";
  for (const std::vector<std::string>& payloads :
       {std::vector<std::string>{bad, ""}, {"return 1", "\"\xff\""}}) {
    const auto planned = PlanJob(wire::Dispatch{}, payloads, 1024);
    ASSERT_TRUE(std::holds_alternative<JobError>(planned));
    EXPECT_EQ(std::get<JobError>(planned).code, Code::kValidation);
    EXPECT_EQ(std::get<JobError>(planned).fault, Fault::kClient);
  }
}

TEST(PlanJob, RefusesADispatchWithoutItsTwoPayloads) {
  EXPECT_EQ(RefusedField({}, {"1"}), "");
  EXPECT_EQ(RefusedField({}, {}), "");
}

}  // namespace
}  // namespace skerry::agent
