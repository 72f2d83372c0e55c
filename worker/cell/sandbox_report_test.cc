#include "worker/cell/sandbox_report.h"

#include <gtest/gtest.h>

namespace skerry::cell {
namespace {

Mechanisms Of(std::initializer_list<Mechanism> list) {
  Mechanisms mechanisms;
  for (const Mechanism mechanism : list) mechanisms.Add(mechanism);
  return mechanisms;
}

const auto kUnprivileged = {Mechanism::kNoCapabilities, Mechanism::kNoNewPrivileges};

TEST(SandboxReport, NothingGivesNoProperty) {
  EXPECT_EQ(MissingFrom(Mechanisms()).size(), static_cast<std::size_t>(kPropertyCount));
  EXPECT_EQ(LevelOf(Mechanisms()), SandboxLevel::kNone);
}

TEST(SandboxReport, SeccompWithoutPrivilegesGivesEveryProperty) {
  const Mechanisms held = Of(kUnprivileged) | Of({Mechanism::kSeccomp});
  EXPECT_TRUE(MissingFrom(held).empty());
  EXPECT_EQ(LevelOf(held), SandboxLevel::kSeccomp);
}

TEST(SandboxReport, NewPrivilegesAreNotGoneWhileOldOnesAreKept) {
  const auto missing = MissingFrom(Of({Mechanism::kSeccomp, Mechanism::kNoNewPrivileges}));
  ASSERT_EQ(missing.size(), 1u);
  EXPECT_EQ(missing[0], Property::kPrivileges);
}

TEST(SandboxReport, NoOtherLayerReplacesTheListOfSystemCalls) {
  const auto missing = MissingFrom(
      Of(kUnprivileged) | Of({Mechanism::kEmptyRoot, Mechanism::kNetworkNamespace, Mechanism::kPidNamespace,
                              Mechanism::kLandlockFiles, Mechanism::kLandlockScopes}));
  ASSERT_EQ(missing.size(), 1u);
  EXPECT_EQ(missing[0], Property::kSystemCalls);
  EXPECT_NE(HowToGrant(missing).find("CONFIG_SECCOMP_FILTER"), std::string::npos);
}

TEST(SandboxReport, LevelsCountLayers) {
  const Mechanisms one = Of(kUnprivileged) | Of({Mechanism::kSeccomp});
  const Mechanisms two = one | Of({Mechanism::kLandlockFiles});
  const Mechanisms three =
      two | Of({Mechanism::kPidNamespace, Mechanism::kEmptyRoot, Mechanism::kNetworkNamespace});
  EXPECT_EQ(NameOf(LevelOf(two)), "landlock+seccomp");
  EXPECT_EQ(NameOf(LevelOf(three)), "namespaces+seccomp");
}

TEST(SandboxReport, LevelsAreFoundByTheNamesThatTheyHave) {
  for (const std::string_view name : kSandboxLevels) EXPECT_EQ(NameOf(*SandboxLevelByName(name)), name);
  EXPECT_FALSE(SandboxLevelByName("walls"));
  EXPECT_FALSE(SandboxLevelByName(""));
}

TEST(SandboxReport, BitsThatNobodyKnowsAreDropped) {
  EXPECT_EQ(Mechanisms(~0u).bits(), (1u << kMechanismCount) - 1);
}

TEST(SandboxReport, ModesHaveNames) {
  for (const SandboxMode mode : {SandboxMode::kStrict, SandboxMode::kBestEffort, SandboxMode::kOff}) {
    EXPECT_EQ(SandboxModeByName(NameOf(mode)), mode);
  }
  EXPECT_FALSE(SandboxModeByName("lenient"));
}

}  // namespace
}  // namespace skerry::cell
