#include "bench/arrivals.h"

#include <random>

namespace skerry::bench {

std::vector<Micros> PoissonArrivals(double per_second, Millis duration, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::exponential_distribution<double> gap(per_second);
  std::vector<Micros> arrivals;
  double seconds = 0;
  for (;;) {
    seconds += gap(random);
    const Micros at(static_cast<std::int64_t>(seconds * 1e6));
    if (at >= duration) return arrivals;
    arrivals.push_back(at);
  }
}

}  // namespace skerry::bench
