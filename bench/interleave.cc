#include "bench/interleave.h"

#include <cstddef>

namespace skerry::bench {

Result<Measured> Interleave(const std::vector<Side>& sides, int rounds, Progress& progress) {
  Measured measured(sides.size());
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t side = 0; side < sides.size(); ++side) {
      progress.Say(sides[side].name + ", round " + std::to_string(round + 1) + " of " +
                   std::to_string(rounds));
      const auto figure = sides[side].measure();
      if (!figure) return Fail(figure.error().kind, sides[side].name + ": " + figure.error().message);
      measured[side].push_back(*figure);
    }
  }
  return measured;
}

}  // namespace skerry::bench
