// When jobs of an open load come: a Poisson process, the same for the same seed.
//
// Threads: pure.
#pragma once

#include <cstdint>
#include <vector>

#include "common/units.h"

namespace skerry::bench {

/// Instants from the beginning, ascending, all before `duration`. `per_second` above 0.
std::vector<Micros> PoissonArrivals(double per_second, Millis duration, std::uint64_t seed);

}  // namespace skerry::bench
