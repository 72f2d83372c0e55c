#include "bench/arrivals.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace skerry::bench {
namespace {

TEST(PoissonArrivals, ComeAsOftenAsAskedWithinTheTimeAndInOrder) {
  const auto arrivals = PoissonArrivals(1'000, Millis(10'000), 1);
  EXPECT_NEAR(static_cast<double>(arrivals.size()), 10'000, 400);  // four standard deviations
  EXPECT_TRUE(std::is_sorted(arrivals.begin(), arrivals.end()));
  EXPECT_LT(arrivals.back(), Millis(10'000));
}

TEST(PoissonArrivals, AreTheSameForTheSameSeedAndOthersForAnother) {
  EXPECT_EQ(PoissonArrivals(100, Millis(1'000), 7), PoissonArrivals(100, Millis(1'000), 7));
  EXPECT_NE(PoissonArrivals(100, Millis(1'000), 7), PoissonArrivals(100, Millis(1'000), 8));
}

TEST(PoissonArrivals, BunchUpAsIndependentJobsDo) {
  const auto arrivals = PoissonArrivals(1'000, Millis(10'000), 1);
  std::size_t soon = 0;
  for (std::size_t i = 1; i < arrivals.size(); ++i)
    soon += arrivals[i] - arrivals[i - 1] < Micros(500) ? 1 : 0;
  // Of gaps with a mean of 1 ms, 1 - 1/sqrt(e) are shorter than half of it; of even ones none would be.
  EXPECT_NEAR(static_cast<double>(soon) / static_cast<double>(arrivals.size()), 0.393, 0.03);
}

}  // namespace
}  // namespace skerry::bench
