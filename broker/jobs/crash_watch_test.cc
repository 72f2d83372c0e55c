#include "broker/jobs/crash_watch.h"

#include <gtest/gtest.h>

#include <string>

#include "common/job.h"

namespace skerry::broker {
namespace {

/// Of the same expression's `spec`.
Program ProgramOf(const JobSpec& spec, std::string_view code) {
  return {spec.tenant.str(), spec.code_hash, code};
}

using Of = CrashRefusal::Of;

class CrashWatchTest : public ::testing::Test {
 protected:
  static JobSpec Spec(const std::string& tenant = "t") {
    JobSpec spec;
    spec.tenant = TenantId(tenant);
    return spec;
  }
  static JobSpec Named(char byte, const std::string& tenant = "t") {
    JobSpec spec = Spec(tenant);
    spec.code_hash = std::string(32, byte);
    return spec;
  }
  void Crash(int times, const JobSpec& spec = Spec(), std::string_view code = "code") {
    for (int i = 0; i < times; ++i) watch_.Note(ProgramOf(spec, code), now_);
  }
  bool Refuses(const JobSpec& spec = Spec(), std::string_view code = "code") const {
    return watch_.Check(ProgramOf(spec, code), now_).has_value();
  }

  const CrashRules rules_{3, 5, Millis(1'000), Millis(100)};
  CrashWatch watch_{rules_};
  TimePoint now_{Millis(1'000'000)};
};

TEST_F(CrashWatchTest, RefusesAProgramAtItsThresholdAndNotOneBefore) {
  Crash(2);
  EXPECT_FALSE(Refuses());
  Crash(1);
  const auto refused = watch_.Check(ProgramOf(Spec(), "code"), now_);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->of, Of::kProgram);
  EXPECT_EQ(refused->crashes, 3u);
  EXPECT_EQ(refused->remaining, Millis(100));
  EXPECT_FALSE(Refuses(Spec(), "other code"));
  EXPECT_FALSE(Refuses(Spec("another tenant")));
}

TEST_F(CrashWatchTest, RefusesATenantAtItsThresholdWhateverItsPrograms) {
  for (const char* code : {"1", "2", "3", "4"}) Crash(1, Spec(), code);
  EXPECT_FALSE(Refuses(Spec(), "never ran"));
  Crash(1, Spec(), "5");
  const auto refused = watch_.Check(ProgramOf(Spec(), "never ran"), now_);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->of, Of::kTenant);
  EXPECT_EQ(refused->crashes, 5u);
  EXPECT_FALSE(Refuses(Spec("another tenant")));
}

TEST_F(CrashWatchTest, TellsOnlyTheCrashThatBeginsARefusal) {
  EXPECT_FALSE(watch_.Note(ProgramOf(Spec(), "code"), now_));
  EXPECT_FALSE(watch_.Note(ProgramOf(Spec(), "code"), now_));
  EXPECT_TRUE(watch_.Note(ProgramOf(Spec(), "code"), now_));
  // One that was running goes on crashing: the refusal lasts longer, and is no other.
  now_ += Millis(50);
  EXPECT_FALSE(watch_.Note(ProgramOf(Spec(), "code"), now_));
  EXPECT_EQ(watch_.Check(ProgramOf(Spec(), "code"), now_)->remaining, Millis(100));
  EXPECT_EQ(watch_.Check(ProgramOf(Spec(), "code"), now_)->crashes, 3u);
}

TEST_F(CrashWatchTest, ARefusalEndsWithItsTimeAndTheNextCrashWithinTheWindowBeginsAnother) {
  Crash(3);
  now_ += Millis(99);
  ASSERT_TRUE(Refuses());
  EXPECT_EQ(watch_.Check(ProgramOf(Spec(), "code"), now_)->remaining, Millis(1));
  now_ += std::chrono::microseconds(500);
  EXPECT_EQ(watch_.Check(ProgramOf(Spec(), "code"), now_)->remaining, Millis(1));
  now_ += std::chrono::microseconds(500);
  EXPECT_FALSE(Refuses());
  EXPECT_TRUE(watch_.Note(ProgramOf(Spec(), "code"), now_));
  EXPECT_TRUE(Refuses());
}

TEST_F(CrashWatchTest, ACrashCountsForAsLongAsTheWindowAndNoLonger) {
  Crash(2);
  now_ += Millis(1'000) - std::chrono::microseconds(1);
  Crash(1);
  EXPECT_TRUE(Refuses());

  CrashWatch other(rules_);
  other.Note(ProgramOf(Spec(), "code"), now_);
  now_ += Millis(1);
  other.Note(ProgramOf(Spec(), "code"), now_);
  now_ += Millis(999);
  other.Note(ProgramOf(Spec(), "code"), now_);
  EXPECT_FALSE(other.Check(ProgramOf(Spec(), "code"), now_));
}

TEST_F(CrashWatchTest, AHashThatTheClientGivesNamesTheProgramWhateverItsCode) {
  Crash(2, Named('a'), "one text");
  Crash(1, Named('a'), "another text");
  EXPECT_TRUE(Refuses(Named('a'), "a third"));
  EXPECT_FALSE(Refuses(Named('b'), "one text"));
  EXPECT_FALSE(Refuses(Spec(), "one text"));
}

TEST_F(CrashWatchTest, AFalseHashHarmsNoOtherTenant) {
  Crash(3, Named('a', "liar"));
  EXPECT_TRUE(Refuses(Named('a', "liar")));
  EXPECT_FALSE(Refuses(Named('a', "owner of the program")));
}

TEST_F(CrashWatchTest, ACountOfNoneNeverRefuses) {
  CrashWatch nobody({0, 0, Millis(1'000), Millis(100)});
  for (int i = 0; i < 1'000; ++i) EXPECT_FALSE(nobody.Note(ProgramOf(Spec(), "code"), now_));
  EXPECT_FALSE(nobody.Check(ProgramOf(Spec(), "code"), now_));
  CrashWatch programs({2, 0, Millis(1'000), Millis(100)});
  programs.Note(ProgramOf(Spec(), "code"), now_);
  programs.Note(ProgramOf(Spec(), "code"), now_);
  EXPECT_EQ(programs.Check(ProgramOf(Spec(), "code"), now_)->of, Of::kProgram);
}

TEST_F(CrashWatchTest, AThresholdOfOneRefusesAtTheFirstCrash) {
  CrashWatch watch({1, 0, Millis(1'000), Millis(100)});
  EXPECT_TRUE(watch.Note(ProgramOf(Spec(), "code"), now_));
  EXPECT_EQ(watch.Check(ProgramOf(Spec(), "code"), now_)->crashes, 1u);
}

TEST_F(CrashWatchTest, WhicheverRefusalLastsLongerIsTold) {
  for (const char* code : {"1", "2", "3", "4", "5"}) Crash(1, Spec(), code);  // the tenant's
  now_ += Millis(10);
  CrashWatch watch({1, 2, Millis(1'000), Millis(100)});
  watch.Note(ProgramOf(Spec(), "a"), now_);
  watch.Note(ProgramOf(Spec(), "b"), now_);
  EXPECT_EQ(watch.Check(ProgramOf(Spec(), "a"), now_)->of, Of::kTenant);
  EXPECT_EQ(watch_.Check(ProgramOf(Spec(), "1"), now_)->remaining, Millis(90));
}

TEST_F(CrashWatchTest, RemembersABoundedNumberAndForgetsWhoCrashedLongestAgo) {
  CrashWatch watch({1, 0, Millis(100'000), Millis(100'000)});
  for (std::size_t i = 0; i < CrashWatch::kMaxPrograms; ++i)
    watch.Note(ProgramOf(Spec(), std::to_string(i)), now_ += Millis(1));
  EXPECT_EQ(watch.programs(), CrashWatch::kMaxPrograms);
  EXPECT_TRUE(watch.Check(ProgramOf(Spec(), "0"), now_));
  watch.Note(ProgramOf(Spec(), "0"), now_);  // crashed last now
  watch.Note(ProgramOf(Spec(), "one more"), now_);
  EXPECT_EQ(watch.programs(), CrashWatch::kMaxPrograms);
  EXPECT_TRUE(watch.Check(ProgramOf(Spec(), "0"), now_));
  EXPECT_FALSE(watch.Check(ProgramOf(Spec(), "1"), now_));
  EXPECT_TRUE(watch.Check(ProgramOf(Spec(), "2"), now_));

  for (std::size_t i = 0; i < 2 * CrashWatch::kMaxTenants; ++i)
    watch.Note(ProgramOf(Spec(std::to_string(i)), "code"), now_ += Millis(1));
  EXPECT_EQ(watch.tenants(), CrashWatch::kMaxTenants);
  EXPECT_FALSE(watch.Check(ProgramOf(Spec(std::to_string(CrashWatch::kMaxTenants - 1)), "code"), now_));
  EXPECT_TRUE(watch.Check(ProgramOf(Spec(std::to_string(CrashWatch::kMaxTenants)), "code"), now_));
}

TEST_F(CrashWatchTest, ForgetsWhoseCrashesCountNoMore) {
  for (int i = 0; i < 100; ++i) Crash(1, Spec(std::to_string(i)));
  EXPECT_EQ(watch_.tenants(), 100u);
  EXPECT_EQ(watch_.programs(), 100u);
  now_ += Millis(1'000);
  Crash(1);
  EXPECT_EQ(watch_.tenants(), 1u);
  EXPECT_EQ(watch_.programs(), 1u);
}

TEST_F(CrashWatchTest, KeepsARefusalThatOutlastsTheWindow) {
  CrashWatch watch({1, 0, Millis(10), Millis(1'000)});
  watch.Note(ProgramOf(Spec(), "code"), now_);
  now_ += Millis(999);
  watch.Note(ProgramOf(Spec(), "other code"), now_);
  EXPECT_TRUE(watch.Check(ProgramOf(Spec(), "code"), now_));
}

}  // namespace
}  // namespace skerry::broker
