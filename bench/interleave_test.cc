#include "bench/interleave.h"

#include <gtest/gtest.h>

namespace skerry::bench {
namespace {

class InterleaveTest : public ::testing::Test {
 protected:
  Side Named(const std::string& name, int fails_at = -1) {
    return {name, [this, name, fails_at, turns = 0]() mutable -> Result<double> {
              order_ += name;
              if (turns == fails_at) return Fail(ErrorKind::kUnavailable, "no such thing");
              return 10.0 * ++turns + static_cast<double>(name[0] - 'A');
            }};
  }

  std::string order_;
  Progress progress_{Progress::Show::kNever};
};

TEST_F(InterleaveTest, PlaysTheSidesInTurns) {
  ASSERT_TRUE(Interleave({Named("A"), Named("B"), Named("C")}, 3, progress_));
  EXPECT_EQ(order_, "ABCABCABC");
}

TEST_F(InterleaveTest, KeepsTheFiguresOfEachSideByRound) {
  const auto measured = Interleave({Named("A"), Named("B")}, 2, progress_);
  ASSERT_TRUE(measured);
  EXPECT_EQ(*measured, (Measured{{10, 20}, {11, 21}}));
}

TEST_F(InterleaveTest, EndsWithTheFirstSideThatFailsAndNamesIt) {
  const auto measured = Interleave({Named("A"), Named("B", 1)}, 3, progress_);
  ASSERT_FALSE(measured);
  EXPECT_EQ(measured.error().message, "B: no such thing");
  EXPECT_EQ(order_, "ABAB");
}

}  // namespace
}  // namespace skerry::bench
