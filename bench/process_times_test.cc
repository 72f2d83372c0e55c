#include "bench/process_times.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <ctime>

namespace skerry::bench {
namespace {

// Fields 1 to 24 of proc(5); each number is its own field's, but for the times'.
constexpr const char* kStat = "77 (a (b) c) S 4 5 6 7 8 9 10 11 12 13 150 50 300 100 18 19 20 21 22 23 24\n";

TEST(ParseStat, CountsFieldsFromTheEndOfTheNameWhateverIsInIt) {
  const auto times = ParseStat(kStat, 100);
  ASSERT_TRUE(times);
  EXPECT_EQ(times->parent, 4);
  EXPECT_EQ(times->own.faults, 10);
  EXPECT_EQ(times->reaped.faults, 11);
  EXPECT_EQ(times->started_ticks, 22u);
}

TEST(ParseStat, TurnsTicksIntoMicroseconds) {
  const auto times = ParseStat(kStat, 100);
  ASSERT_TRUE(times);
  EXPECT_EQ(times->own.user_us, 1.5e6);
  EXPECT_EQ(times->own.kernel_us, 0.5e6);
  EXPECT_EQ(times->reaped.user_us, 3e6);
  EXPECT_EQ(times->reaped.cpu_us(), 4e6);
}

TEST(ParseStat, OfAProcessThatIsGoneOrCutOffIsAnError) {
  EXPECT_FALSE(ParseStat("", 100));
  EXPECT_FALSE(ParseStat("77 (x) S 4 5 6", 100));
}

TEST(ReadProcessTimes, OfThisProcessGrowWithWhatItDoes) {
  const auto before = ReadProcessTimes(getpid());
  ASSERT_TRUE(before);
  EXPECT_EQ(before->parent, getppid());
  const std::clock_t until = std::clock() + CLOCKS_PER_SEC / 10;
  while (std::clock() < until) {
  }
  const auto after = ReadProcessTimes(getpid());
  ASSERT_TRUE(after);
  EXPECT_GE((after->own - before->own).cpu_us(), 50'000);
}

TEST(ReadResidentBytes, IsSomethingOfTheLivingAndAnErrorOfTheDead) {
  const auto bytes = ReadResidentBytes(getpid());
  ASSERT_TRUE(bytes);
  EXPECT_GT(*bytes, 1u << 20);
  EXPECT_FALSE(ReadResidentBytes(-1));
}

}  // namespace
}  // namespace skerry::bench
