#include "bench/statistics.h"

#include <gtest/gtest.h>

namespace skerry::bench {
namespace {

TEST(Median, IsTheMiddleValueInWhateverOrderTheyCome) {
  EXPECT_EQ(Median({9, 1, 5}), 5);
  EXPECT_EQ(Median({7}), 7);
}

TEST(Median, OfAnEvenNumberIsTheMeanOfTheTwoInTheMiddle) {
  EXPECT_EQ(Median({1, 100, 3, 5}), 4);
}

TEST(Median, OfNothingIsZero) {
  EXPECT_EQ(Median({}), 0);
}

TEST(Percentile, IsTheSmallestValueThatEnoughDoNotExceed) {
  std::vector<double> values;
  for (int i = 100; i >= 1; --i) values.push_back(i);
  EXPECT_EQ(Percentile(values, 0.5), 50);
  EXPECT_EQ(Percentile(values, 0.99), 99);
  EXPECT_EQ(Percentile(values, 0.991), 100);
}

TEST(Percentile, ReachesFromTheLeastToTheGreatest) {
  EXPECT_EQ(Percentile({3, 1, 2}, 0), 1);
  EXPECT_EQ(Percentile({3, 1, 2}, 1), 3);
}

TEST(Percentile, OfFewerValuesThanItCanTellApartIsTheGreatest) {
  EXPECT_EQ(Percentile({3, 1, 2}, 0.999), 3);
  EXPECT_EQ(Percentile({}, 0.5), 0);
}

TEST(MedianRatio, ComparesWithinRoundsNotAcrossThem) {
  // A machine that slows down after the first round, and once more within the last one: the medians say
  // 0.625.
  EXPECT_DOUBLE_EQ(MedianRatio({500, 40, 50}, {1000, 80, 20}), 0.5);
}

TEST(MedianRatio, LeavesOutRoundsWithoutABaseline) {
  EXPECT_DOUBLE_EQ(MedianRatio({10, 10, 10}, {0, 5, 5}), 2);
  EXPECT_EQ(MedianRatio({10}, {0}), 0);
  EXPECT_EQ(MedianRatio({1, 2, 3}, {1}), 1);
}

}  // namespace
}  // namespace skerry::bench
