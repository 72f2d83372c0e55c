// How much the broker keeps for its clients, and which of them have to read before more is run for them.
//
// A session is held back, which means that its queued jobs wait while others' pass them,
//   - while it has not acknowledged max_unacked_finals finals (those that run will be finals too),
//   - while it keeps max_unacked_bytes,
//   - while all sessions together keep max_held_bytes and it keeps more than its equal share of them: the
//     largest are held back first, and one that reads is never held back for those that do not.
// So no final has to be forgotten. Events past the same bounds are dropped and counted.
//
// Threads: the core's.
#pragma once

#include <cstdint>

#include "broker/config.h"
#include "broker/sessions/session_registry.h"

namespace skerry::broker {

class FlowControl {
 public:
  explicit FlowControl(const BrokerConfig& config) : config_(config) {}

  /// Brings the books up to date with what `session` holds; to be called after every change of it.
  void Note(Session& session);
  /// Jobs of the session are not dispatched.
  bool MustWait(const Session& session) const;
  /// Events of the session are dropped, where `bytes` more would have to be kept.
  bool IsFull(const Session& session, std::uint64_t bytes) const;
  /// True once after the sum has come down from its bound: those held back for its sake may be looked at
  /// again.
  bool TakeRelief();

  /// For all sessions together.
  const KeptForClient& kept() const { return kept_; }
  std::uint64_t held_bytes() const { return kept_.bytes(); }

 private:
  bool PastFairShare(const Session& session) const;

  const BrokerConfig& config_;
  KeptForClient kept_;
  std::uint64_t holders_ = 0;  // sessions that hold anything
  bool was_full_ = false;
};

}  // namespace skerry::broker
