#include "broker/sessions/flow_control.h"

#include <utility>

namespace skerry::broker {

void FlowControl::Note(Session& session) {
  const KeptForClient now{session.finals.size(), session.final_bytes, session.pipe.own_bytes()};
  const KeptForClient before = std::exchange(session.kept, now);
  if (before.bytes() > 0) --holders_;
  if (now.bytes() > 0) ++holders_;
  kept_.finals += now.finals - before.finals;
  kept_.final_bytes += now.final_bytes - before.final_bytes;
  kept_.own_bytes += now.own_bytes - before.own_bytes;
  if (held_bytes() >= config_.max_held_bytes.count()) was_full_ = true;
}

bool FlowControl::PastFairShare(const Session& session) const {
  return held_bytes() >= config_.max_held_bytes.count() &&
         session.kept.bytes() >= config_.max_held_bytes.count() / (holders_ > 0 ? holders_ : 1);
}

bool FlowControl::MustWait(const Session& session) const {
  return session.finals.size() + session.running >= config_.max_unacked_finals ||
         session.kept.bytes() >= config_.max_unacked_bytes.count() || PastFairShare(session);
}

bool FlowControl::IsFull(const Session& session, std::uint64_t bytes) const {
  return session.pipe.waiting_bytes() + bytes > config_.max_backlog_bytes.count() || PastFairShare(session);
}

bool FlowControl::TakeRelief() {
  // An eighth below, so that a sum near its bound does not wake everyone at every message.
  const std::uint64_t bound = config_.max_held_bytes.count();
  if (!was_full_ || held_bytes() >= bound - bound / 8) return false;
  was_full_ = false;
  return true;
}

}  // namespace skerry::broker
