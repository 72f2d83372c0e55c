#include "clients/cli/waiting_notice.h"

#include <gtest/gtest.h>

namespace skerry::cli {
namespace {

const TimePoint kStart;

TEST(WaitingNotice, ComesOnceAfterThreeSilentSeconds) {
  WaitingNotice notice;
  EXPECT_FALSE(notice.Check(2, kStart));
  EXPECT_FALSE(notice.Check(2, kStart + Millis(2'999)));
  const auto line = notice.Check(2, kStart + Millis(3'000));
  ASSERT_TRUE(line);
  EXPECT_TRUE(line->starts_with("2 jobs wait and none has ended yet: the broker may have no worker"))
      << *line;
  EXPECT_FALSE(notice.Check(2, kStart + Millis(60'000)));
}

TEST(WaitingNotice, DoesNotComeOnceAJobWasHeardOf) {
  WaitingNotice notice;
  notice.Check(2, kStart);
  notice.Heard();
  EXPECT_FALSE(notice.Check(2, kStart + Millis(60'000)));
}

TEST(WaitingNotice, CountsFromTheFirstJobNotFromTheStart) {
  WaitingNotice notice;
  EXPECT_FALSE(notice.Check(0, kStart));
  EXPECT_FALSE(notice.Check(1, kStart + Millis(60'000)));
  EXPECT_TRUE(notice.Check(1, kStart + Millis(63'000)));
}

}  // namespace
}  // namespace skerry::cli
