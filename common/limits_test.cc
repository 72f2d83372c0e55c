#include "common/limits.h"

#include <gtest/gtest.h>

namespace skerry {
namespace {

Limits Resolved(const RequestedLimits& requested, const Ceilings& ceilings = {}) {
  auto result = ResolveLimits(requested, ceilings);
  EXPECT_TRUE(std::holds_alternative<Limits>(result));
  return std::get<Limits>(result);
}

LimitRefusal Refused(const RequestedLimits& requested, const Ceilings& ceilings = {}) {
  auto result = ResolveLimits(requested, ceilings);
  EXPECT_TRUE(std::holds_alternative<LimitRefusal>(result));
  return std::get<LimitRefusal>(result);
}

TEST(Limits, TableIsIndexedByIdAndEveryNameIsFound) {
  for (std::size_t i = 0; i < kLimitSpecs.size(); ++i) {
    EXPECT_EQ(static_cast<std::size_t>(kLimitSpecs[i].id), i);
    EXPECT_EQ(LimitByName(kLimitSpecs[i].name), kLimitSpecs[i].id);
    EXPECT_LE(kLimitSpecs[i].minimum, kLimitSpecs[i].default_ceiling);
    EXPECT_LE(kLimitSpecs[i].default_ceiling, kLimitSpecs[i].hard_maximum);
  }
}

TEST(Limits, AJobThatNamesNoneGetsTheDefaults) {
  EXPECT_EQ(Resolved({}), Limits());
  EXPECT_EQ(Resolved({}).cpu_ms(), kUnlimited);
}

TEST(Limits, EachIsAcceptedAtItsCeilingAndRefusedOnePastIt) {
  for (const auto& spec : kLimitSpecs) {
    const std::string name(spec.name);
    EXPECT_EQ(Resolved({{name, spec.default_ceiling}}).Get(spec.id), spec.default_ceiling) << name;
    const LimitRefusal refusal = Refused({{name, spec.default_ceiling + 1}});
    EXPECT_EQ(refusal.field, name);
    EXPECT_NE(refusal.message.find(std::to_string(spec.default_ceiling)), std::string::npos);
  }
}

TEST(Limits, EachIsAcceptedAtItsMinimumAndRefusedOneBelowIt) {
  for (const auto& spec : kLimitSpecs) {
    const std::string name(spec.name);
    EXPECT_EQ(Resolved({{name, spec.minimum}}).Get(spec.id), spec.minimum) << name;
    if (spec.minimum == 0) continue;
    EXPECT_EQ(Refused({{name, spec.minimum - 1}}).field, name);
  }
}

TEST(Limits, AnUnknownNameIsRefusedAndNamed) {
  EXPECT_EQ(Refused({{"timeoutMS", 5}}).field, "timeoutMS");
}

TEST(Limits, ACeilingBelowTheDefaultLowersTheDefaultButNeverClampsARequest) {
  Ceilings ceilings;
  ceilings.Set(LimitId::kTimeoutMs, 1000);
  EXPECT_EQ(Resolved({}, ceilings).timeout_ms(), 1000u);
  EXPECT_EQ(Refused({{"timeoutMs", 1001}}, ceilings).field, "timeoutMs");
}

}  // namespace
}  // namespace skerry
