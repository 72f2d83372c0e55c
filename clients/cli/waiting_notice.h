// Says once that nothing has been heard of any job yet: a pool without workers looks just like that, and so
// does one that is busy. The wire does not tell a client which it is. A broker that does not answer is
// another matter, and is said each time, with its return.
//
// Threads: one; pure, told the time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "clients/cpp/client_types.h"
#include "common/units.h"

namespace skerry::cli {

class WaitingNotice {
 public:
  /// An event or a final came: there is a worker.
  void Heard() { done_ = true; }
  /// With `unfinished` jobs at the broker: the line to show, after three seconds of silence of theirs, or
  /// when the broker stops or begins to answer.
  std::optional<std::string> Check(std::uint64_t unfinished, const LinkHealth& link, TimePoint now);

 private:
  std::optional<TimePoint> since_;
  bool done_ = false;
  bool lost_ = false;
};

}  // namespace skerry::cli
