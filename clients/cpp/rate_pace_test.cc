#include "clients/cpp/rate_pace.h"

#include <gtest/gtest.h>

#include <string>

#include "clients/cpp/testing/core_harness.h"

namespace skerry::client {
namespace {

constexpr TimePoint kStart{};

TEST(RatePace, JobsOfOneNameComeAsFarApartAsTheBrokerSaysThatOneHasToWait) {
  RatePace pace;
  EXPECT_EQ(pace.DueOf("t", Millis(200), kStart), kStart + Millis(200));
  EXPECT_EQ(pace.DueOf("t", Millis(200), kStart), kStart + Millis(400));
  EXPECT_EQ(pace.DueOf("t", Millis(150), kStart + Millis(50)), kStart + Millis(550));
}

TEST(RatePace, NamesDoNotWaitForEachOther) {
  RatePace pace;
  pace.DueOf("t", Millis(200), kStart);
  EXPECT_EQ(pace.DueOf("u", Millis(200), kStart), kStart + Millis(200));
}

TEST(RatePace, ANameThatHasNobodyWaitingBeginsAnew) {
  RatePace pace;
  pace.DueOf("t", Millis(200), kStart);
  EXPECT_EQ(pace.DueOf("t", Millis(10), kStart + Millis(5'000)), kStart + Millis(5'010));
}

TEST(RatePace, OfAFastRateManyComeInAMillisecond) {
  RatePace pace;
  for (int i = 0; i < 20; ++i) EXPECT_LE(pace.DueOf("t", Millis(1), kStart), kStart + Millis(2));
}

TEST(RatePace, NamesThatWaitNoMoreAreForgotten) {
  RatePace pace;
  for (int i = 0; i < 64; ++i) pace.DueOf("t" + std::to_string(i), Millis(200), kStart);
  EXPECT_EQ(pace.size(), 64u);
  pace.DueOf("late", Millis(200), kStart + Millis(200));
  EXPECT_EQ(pace.size(), 1u);
}

TEST_F(Core, ARateIsWaitedOutOneJobAfterTheOther) {
  Welcome();
  Submit("a");
  Submit("b");
  Clear();
  Refused("a", "rate", 200);
  Refused("b", "rate", 200);
  EXPECT_TRUE(Events().empty());
  Pass(Millis(199));
  EXPECT_TRUE(Sent<wire::Submit>().empty());
  Pass(Millis(1));
  ASSERT_EQ(Sent<wire::Submit>().size(), 1u);
  EXPECT_EQ(Sent<wire::Submit>()[0].job.id.str(), "a");
  Pass(Millis(199));
  EXPECT_EQ(Sent<wire::Submit>().size(), 1u);
  Pass(Millis(1));
  EXPECT_EQ(Sent<wire::Submit>().size(), 2u);
}

TEST_F(Core, AUsersRateIsWaitedOutBesideThatOfAnotherUser) {
  Welcome();
  for (const char* user : {"u", "v"}) {
    JobRequest request = Request(user);
    request.spec.user = UserId(user);
    Submit(std::move(request));
  }
  Clear();
  Refused("u", "userRate", 200);
  Refused("v", "userRate", 200);
  Pass(Millis(200));
  EXPECT_EQ(Sent<wire::Submit>().size(), 2u);
}

TEST_F(Core, ARateIsReportedForFailFastAndARefusalOfWhatCrashesOrHasHadItsTurnsAtOnce) {
  Welcome();
  JobRequest fast = Request("fast");
  fast.spec.admission = Admission::kFailFast;
  Submit(std::move(fast));
  for (const char* id : {"crashes", "turns", "never"}) Submit(id);
  Refused("fast", "rate", 200);
  Refused("crashes", "", 60'000);
  Refused("turns", "turnBudget", 200);
  Refused("never", "rate", 0);
  EXPECT_EQ(Events().size(), 4u);
}

TEST_F(Core, WaitingOutARateCountsAgainstTheDeadline) {
  Welcome();
  JobRequest request = Request("a");
  request.spec.deadline_ms = 200;
  Submit(std::move(request));
  Refused("a", "rate", 200);
  const auto events = Events();
  ASSERT_EQ(events.size(), 1u);
  const auto& error = std::get<JobFinal>(events[0]).outcome.error;
  EXPECT_EQ(error->code, Code::kExpired);
  EXPECT_NE(error->message.find("its tenant's rate"), std::string::npos) << error->message;
}

}  // namespace
}  // namespace skerry::client
