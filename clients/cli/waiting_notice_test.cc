#include "clients/cli/waiting_notice.h"

#include <gtest/gtest.h>

namespace skerry::cli {
namespace {

const TimePoint kStart;
const LinkHealth kLinked{true, Millis(70'000)};

TEST(WaitingNotice, ComesOnceAfterThreeSilentSeconds) {
  WaitingNotice notice;
  EXPECT_FALSE(notice.Check(2, kLinked, kStart));
  EXPECT_FALSE(notice.Check(2, kLinked, kStart + Millis(2'999)));
  const auto line = notice.Check(2, kLinked, kStart + Millis(3'000));
  ASSERT_TRUE(line);
  EXPECT_TRUE(line->starts_with("2 jobs wait or run, and none has ended or said anything yet: ")) << *line;
  EXPECT_FALSE(notice.Check(2, kLinked, kStart + Millis(60'000)));
}

TEST(WaitingNotice, DoesNotComeOnceAJobWasHeardOf) {
  WaitingNotice notice;
  notice.Check(2, kLinked, kStart);
  notice.Heard();
  EXPECT_FALSE(notice.Check(2, kLinked, kStart + Millis(60'000)));
}

TEST(WaitingNotice, CountsFromTheFirstJobNotFromTheStart) {
  WaitingNotice notice;
  EXPECT_FALSE(notice.Check(0, kLinked, kStart));
  EXPECT_FALSE(notice.Check(1, kLinked, kStart + Millis(60'000)));
  EXPECT_TRUE(notice.Check(1, kLinked, kStart + Millis(63'000)));
}

TEST(WaitingNotice, ABrokerThatHasSaidByeIsSaidToBeStopped) {
  WaitingNotice notice;
  const auto stopped = notice.Check(2, {false, Millis(59'500), true, true}, kStart);
  ASSERT_TRUE(stopped);
  EXPECT_EQ(*stopped, "the broker was stopped: it is looked for again, and given up in 60 s");
}

TEST(WaitingNotice, ABrokerThatDoesNotAnswerIsNotCalledBusyAndItsReturnIsSaid) {
  WaitingNotice notice;
  notice.Check(2, kLinked, kStart);
  const auto lost = notice.Check(2, {false, Millis(67'500)}, kStart + Millis(3'000));
  ASSERT_TRUE(lost);
  EXPECT_EQ(*lost, "the broker does not answer: it is looked for again, and given up in 68 s");
  EXPECT_FALSE(notice.Check(2, {false, Millis(60'000)}, kStart + Millis(10'500)));
  const auto back = notice.Check(2, kLinked, kStart + Millis(20'000));
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, "the broker answers again");
  // Its three seconds begin anew.
  EXPECT_FALSE(notice.Check(2, kLinked, kStart + Millis(20'100)));
  EXPECT_FALSE(notice.Check(2, kLinked, kStart + Millis(23'000)));
  EXPECT_TRUE(notice.Check(2, kLinked, kStart + Millis(23'100)));
}

TEST(WaitingNotice, WhatIsGivenUpNowIsNotSaidToBeLookedFor) {
  WaitingNotice notice;
  EXPECT_FALSE(notice.Check(2, {false, Millis(0)}, kStart));
  EXPECT_FALSE(notice.Check(2, {false, Millis(-1)}, kStart));
  EXPECT_TRUE(notice.Check(2, {false, Millis(1)}, kStart));
}

TEST(WaitingNotice, ABrokerWhoseHeartbeatIsOverdueIsNotYetCalledBusy) {
  WaitingNotice notice;
  notice.Check(2, kLinked, kStart);
  EXPECT_FALSE(notice.Check(2, {true, Millis(68'000), true}, kStart + Millis(3'000)));
  EXPECT_TRUE(notice.Check(2, kLinked, kStart + Millis(3'100)));
}

TEST(WaitingNotice, ABrokerThatIsLostIsSaidAgainEachTimeEvenWhenJobsWereHeardOf) {
  WaitingNotice notice;
  notice.Heard();
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(notice.Check(1, {false, Millis(60'000)}, kStart));
    EXPECT_TRUE(notice.Check(1, kLinked, kStart));
  }
}

}  // namespace
}  // namespace skerry::cli
