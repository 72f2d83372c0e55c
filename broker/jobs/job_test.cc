#include "broker/jobs/job.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "common/wire/codec.h"

namespace skerry::broker {
namespace {

JobSpec Everything() {
  JobSpec spec;
  spec.id = JobId("a");
  spec.tenant = TenantId("t");
  spec.user = UserId("u");
  spec.mode = Mode::kModule;
  spec.code_hash = std::string(32, '\x5a');
  spec.priority = -7;
  spec.deadline_ms = 7ull * 24 * 3600 * 1000;
  spec.retry = Retry::kAlways;
  spec.admission = Admission::kFailFast;
  spec.wasm = true;
  spec.seed = 0;
  spec.clock_ms = kFrozenClockMs;
  spec.receipt = true;
  spec.libraries = {"b", "a"};
  spec.program = true;
  spec.reuse = Reuse::kContext;
  spec.encoding = Encoding::kMsgpack;
  return spec;
}

TEST(Job, ItsDispatchSaysWhatItsSubmitSaidAndNamesEveryLimitThatIsSet) {
  SharedParts shared;
  Limits limits;
  limits.Set(LimitId::kTimeoutMs, 5);
  JobSpec expected = Everything();
  const JobSpec told = SpecOf(*MakeJob(expected, limits, shared));
  EXPECT_EQ(told.limits.size(), kLimitCount - 1);  // cpuMs is unlimited and left out
  for (const auto& [name, value] : told.limits) {
    const auto id = LimitByName(name);
    ASSERT_TRUE(id);
    EXPECT_NE(*id, LimitId::kCpuMs);
    EXPECT_EQ(value, limits.Get(*id));
  }
  expected.limits = told.limits;
  expected.memory_mb = limits.memory_mb();
  EXPECT_EQ(wire::Encode(wire::Submit{told}), wire::Encode(wire::Submit{expected}));
}

TEST(Job, ItsNeedIsThatOfItsSubmit) {
  SharedParts shared;
  JobSpec spec;
  const auto plain = MakeJob(spec, Limits(), shared);
  EXPECT_EQ(plain->extras, nullptr) << "most jobs ask for nothing of the kind, and pay nothing for it";
  plain->extras = std::make_unique<JobExtras>();  // others have passed it
  EXPECT_EQ(NeedOf(*plain).skill, Skill::kPlain);
  EXPECT_EQ(NeedOf(*plain).memory_mb, Limits().memory_mb());
  for (const auto& ask :
       {+[](JobSpec& asking) { asking.seed = 0; }, +[](JobSpec& asking) { asking.clock_ms = 0; },
        +[](JobSpec& asking) { asking.receipt = true; }}) {
    JobSpec asking;
    ask(asking);
    EXPECT_EQ(NeedOf(asking).skill, Skill::kReproducible);
    EXPECT_EQ(NeedOf(*MakeJob(asking, Limits(), shared)).skill, Skill::kReproducible);
  }
}

TEST(Job, LibrariesAndEncodingNeedAWorkerThatKnowsThemAndWhatIsOnlySpeedDoesNot) {
  SharedParts shared;
  JobSpec spec;
  spec.program = true;
  spec.reuse = Reuse::kContext;
  EXPECT_EQ(NeedOf(spec).skill, Skill::kPlain);
  EXPECT_EQ(NeedOf(*MakeJob(spec, Limits(), shared)).skill, Skill::kPlain);
  spec.seed = 1;
  spec.encoding = Encoding::kMsgpack;
  EXPECT_EQ(NeedOf(spec).skill, Skill::kPrograms);
  EXPECT_EQ(NeedOf(*MakeJob(spec, Limits(), shared)).skill, Skill::kPrograms);
  spec.encoding = Encoding::kJson;
  spec.libraries = {"lodash"};
  const auto job = MakeJob(spec, Limits(), shared);
  for (const Need& need : {NeedOf(spec), NeedOf(*job)}) {
    EXPECT_EQ(need.skill, Skill::kPrograms);
    ASSERT_EQ(need.libraries.size(), 1u);
    EXPECT_EQ(need.libraries[0], "lodash");
  }
}

TEST(Job, JobsOfOneTenantUserAndSetOfLimitsHoldTheseOnce) {
  SharedParts shared;
  {
    const auto a = MakeJob(Everything(), Limits(), shared);
    const auto b = MakeJob(Everything(), Limits(), shared);
    EXPECT_EQ(&*a->account, &*b->account);
    EXPECT_EQ(&*a->terms, &*b->terms);
    JobSpec other = Everything();
    other.user = UserId("another");
    Limits more;
    more.Set(LimitId::kMemoryMb, 512);
    const auto c = MakeJob(other, more, shared);
    EXPECT_NE(&*a->account, &*c->account);
    EXPECT_EQ(c->account->tenant, a->account->tenant);
    EXPECT_EQ(c->memory_mb, 512u);
    EXPECT_EQ(shared.accounts.size(), 2u);
    EXPECT_EQ(shared.terms.size(), 2u);
  }
  EXPECT_EQ(shared.accounts.size(), 0u);
  EXPECT_EQ(shared.terms.size(), 0u);
}

}  // namespace
}  // namespace skerry::broker
