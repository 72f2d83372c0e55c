#include "broker/queue/cost_model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

namespace skerry::broker {
namespace {

class Costs : public ::testing::Test {
 protected:
  std::unique_ptr<Job> Make(const std::string& tenant, char program = 0) {
    JobSpec spec;
    spec.tenant = TenantId(tenant);
    if (program != 0) spec.code_hash = std::string(32, program);
    Limits limits;
    limits.Set(LimitId::kTimeoutMs, 100);
    return MakeJob(spec, limits, shared_);
  }
  SharedParts shared_;
  CostModel costs_;
};

TEST_F(Costs, AreThoughtTheLeastUntilSomethingHasRun) {
  EXPECT_EQ(costs_.Estimate(*Make("t")), CostModel::kLeastUs);
  EXPECT_EQ(costs_.Learn(*Make("t"), 4), 4'000u);
  EXPECT_EQ(costs_.Estimate(*Make("t")), 4'000u);
}

TEST_F(Costs, OfANewTenantAreWhatOthersCost) {
  for (int i = 0; i < 2'000; ++i) costs_.Learn(*Make(i % 2 == 0 ? "a" : "b"), i % 2 == 0 ? 20 : 40);
  EXPECT_EQ(costs_.Estimate(*Make("a")), 20'000u);
  EXPECT_NEAR(static_cast<double>(costs_.Estimate(*Make("new"))), 30'000, 1'000);
}

TEST_F(Costs, FollowTheLastRunsByAQuarterOfEach) {
  costs_.Learn(*Make("t"), 4);
  costs_.Learn(*Make("t"), 8);
  EXPECT_EQ(costs_.Estimate(*Make("t")), 5'000u);
}

TEST_F(Costs, AreAProgramsOwnAndOfItsTenantWhereItIsNew) {
  costs_.Learn(*Make("t", 'a'), 80);
  costs_.Learn(*Make("t", 'b'), 4);
  EXPECT_EQ(costs_.Estimate(*Make("t", 'a')), 80'000u);
  EXPECT_EQ(costs_.Estimate(*Make("t", 'b')), 4'000u);
  EXPECT_EQ(costs_.Estimate(*Make("t", 'c')), 61'000u);
  EXPECT_EQ(costs_.Estimate(*Make("t")), 61'000u);
  EXPECT_LT(costs_.Estimate(*Make("another", 'a')), 4'000u) << "what others know of a program is theirs";
}

TEST_F(Costs, AreBoundedByWhatTheJobsLimitsLetItUse) {
  EXPECT_EQ(costs_.Learn(*Make("t"), 200), 200'000u);  // two runs of 100 ms
  EXPECT_EQ(costs_.Learn(*Make("t"), 200.1), 200'000u);
  EXPECT_EQ(costs_.Learn(*Make("t"), 1), 1'000u);
  for (const double absurd : {0.0, 0.999, -1e300, std::nan(""), -std::numeric_limits<double>::infinity(),
                              std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(costs_.Learn(*Make("t"), absurd), CostModel::kLeastUs) << absurd;
  }
  EXPECT_EQ(costs_.Learn(*Make("t"), 1e300), 200'000u);
}

TEST_F(Costs, AreKnownOfSoManyAndNoMore) {
  for (std::size_t i = 0; i <= CostModel::kMaxKnown; ++i) costs_.Learn(*Make(std::to_string(i)), 2);
  EXPECT_EQ(costs_.size(), CostModel::kMaxKnown);
  EXPECT_LT(costs_.Estimate(*Make("0")), 2'000u) << "the one that was learnt first";
  EXPECT_EQ(costs_.Estimate(*Make("1")), 2'000u);
}

}  // namespace
}  // namespace skerry::broker
