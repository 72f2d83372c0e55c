// The progress bar on stderr: only when that is a terminal, at most ten times a second.
//
// Threads: one.
#pragma once

#include <cstdint>
#include <string>

#include "clients/cli/tally.h"
#include "common/units.h"

namespace skerry::cli {

/// One bar as text. `fraction` below 0: the size of the input is not known.
std::string BarText(const Tally& tally, double fraction, double seconds, std::size_t columns);

class Progress {
 public:
  enum class Show : std::uint8_t { kNever, kOnTerminal };
  explicit Progress(Show show, TimePoint start);
  ~Progress();

  void Update(const Tally& tally, double fraction, TimePoint now);
  /// Takes the bar off the screen; what follows on stderr begins on a clean line.
  void Clear();

 private:
  bool enabled_ = false;
  bool drawn_ = false;
  TimePoint start_;
  TimePoint next_;
};

}  // namespace skerry::cli
