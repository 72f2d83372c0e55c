// When a link needs a PING, and when it has to be opened anew.
//
//   kConnecting ──WELCOME──▶ kConnected ──REFUSE, our BYE──▶ kClosed
//        │  ▲                    │
//        └──┴──── silence, BYE ──┘   reopen, HELLO again
//
// Threads: plain data with an injected clock. Errors: none.
#pragma once

#include <algorithm>
#include <cstdint>

#include "common/units.h"

namespace skerry::agent {

class LinkState {
 public:
  enum class State : std::uint8_t { kConnecting, kConnected, kClosed };
  enum class Action : std::uint8_t { kNothing, kPing, kReopen };

  explicit LinkState(TimePoint now) : heard_(now), sent_(now) {}

  State state() const { return state_; }
  bool connected() const { return state_ == State::kConnected; }
  /// Whether there has been a WELCOME at all: before it a silence is no loss.
  bool ever_connected() const { return ever_connected_; }
  /// `lease`: after so long a silence the broker gives away what it gave to this worker; 0: it does not say.
  void OnWelcome(TimePoint now, Millis heartbeat, Millis lease = Millis(0)) {
    state_ = State::kConnected;
    ever_connected_ = true;
    OnAnything(now);
    lease_ = lease;
    // Below 10 ms pings would be most of the traffic, above a minute a dead broker goes unseen.
    if (heartbeat > Millis(0)) heartbeat_ = std::clamp(heartbeat, Millis(10), Millis(60'000));
  }
  void OnAnything(TimePoint now) {
    heard_ = last_word_ = now;
    cut_off_ = false;
  }
  void OnReopened(TimePoint now) {
    state_ = State::kConnecting;
    heard_ = sent_ = now;
  }
  void OnClosed() { state_ = State::kClosed; }

  /// What is due. Call at least every heartbeat.
  Action Tick(TimePoint now);
  /// Once in each silence that lasts longer than the lease, however often the connection is opened meanwhile.
  bool TakeCutOff(TimePoint now);
  Millis heartbeat() const { return heartbeat_; }
  /// How long a silence is believed in.
  Millis patience() const { return std::max(heartbeat_ * kMissedHeartbeats, kShortestPatience); }

 private:
  static constexpr int kMissedHeartbeats = 10;
  // A broker that stalls for less (a loaded machine, a debugger's step) is not gone.
  static constexpr Millis kShortestPatience{5'000};

  State state_ = State::kConnecting;
  bool ever_connected_ = false;
  bool cut_off_ = false;
  Millis heartbeat_{1'000};
  Millis lease_{0};
  TimePoint last_word_;
  TimePoint heard_;
  TimePoint sent_;
};

}  // namespace skerry::agent
