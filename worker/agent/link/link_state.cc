#include "worker/agent/link/link_state.h"

namespace skerry::agent {

LinkState::Action LinkState::Tick(TimePoint now) {
  if (state_ == State::kClosed) return Action::kNothing;
  if (now - heard_ >= patience()) return Action::kReopen;
  if (state_ == State::kConnected && now - sent_ >= heartbeat_) {
    sent_ = now;
    return Action::kPing;
  }
  return Action::kNothing;
}

bool LinkState::TakeCutOff(TimePoint now) {
  if (state_ == State::kClosed || cut_off_ || lease_ == Millis(0) || now - last_word_ < lease_) return false;
  cut_off_ = true;
  return true;
}

}  // namespace skerry::agent
