// How a peer whose handshakes fail one after the other goes on: the first tries are as quick as its socket
// makes them, then each waits twice as long as the one before; and its owner is told once, then now and then.
//
//   const auto next = trouble.OnFailure(now);
//   if (next.tell) log, with next.failures
//   if (next.pause > Millis(0)) disconnect, and connect again after it
//
// Threads: plain data with an injected clock. Errors: none.
#pragma once

#include <algorithm>
#include <cstdint>

#include "common/units.h"

namespace skerry::curve {

class HandshakeTrouble {
 public:
  /// A broker that starts, or lets others go to have room, is past it in so many.
  static constexpr std::uint64_t kQuickFailures = 4;
  static constexpr Millis kFirstPause{250};
  /// Below what a worker's or a client's silence is believed in, so that it is no reason to give up.
  static constexpr Millis kLongestPause{4'000};
  static constexpr Millis kTellAgain{30'000};

  struct Next {
    Millis pause{0};             ///< 0: the socket tries by itself
    bool tell = false;           ///< whether it is time to say so
    std::uint64_t failures = 0;  ///< since the last success
  };

  Next OnFailure(TimePoint now) {
    Next next{Millis(0), failures_ == 0 || now - told_ >= kTellAgain, ++failures_};
    if (next.tell) told_ = now;
    if (failures_ <= kQuickFailures) return next;
    next.pause = pause_;
    pause_ = std::min(2 * pause_, kLongestPause);
    return next;
  }
  void OnSuccess() { *this = HandshakeTrouble(); }

 private:
  std::uint64_t failures_ = 0;
  Millis pause_ = kFirstPause;
  TimePoint told_{};
};

}  // namespace skerry::curve
