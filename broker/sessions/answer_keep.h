// The ANSWERs sent to one worker that it may not have read: sent again when it comes back on a new link,
// since a host call whose answer is lost would end as the program's TIMEOUT. One that comes twice is dropped
// by the worker: its call is not open any more.
//
// Threads: the core's. Ownership: payloads are shared.
#pragma once

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "broker/jobs/payload.h"
#include "common/wire/messages.h"

namespace skerry::broker {

class AnswerKeep {
 public:
  struct Kept {
    std::uint64_t mark = 0;
    wire::Answer answer;
    std::vector<Payload> payloads;
  };

  // What a worker leaves unread between two heartbeats; past it the oldest is taken for read.
  static constexpr std::size_t kMaxAnswers = 4096;
  static constexpr std::uint64_t kMaxBytes = 64ull << 20;

  void Add(const wire::Answer& answer, const std::vector<Payload>& payloads) {
    kept_.push_back({pings_ + 1, answer, payloads});
    bytes_ += BytesOf(kept_.back());
    while (kept_.size() > kMaxAnswers || bytes_ > kMaxBytes) Pop();
  }
  /// The number of the next PING, behind all that was added.
  std::uint64_t NextPing() { return ++pings_; }
  /// The PONG of PING `number`.
  void Confirm(std::uint64_t number) {
    if (number > pings_) return;
    while (!kept_.empty() && kept_.front().mark <= number) Pop();
  }
  const std::deque<Kept>& kept() const { return kept_; }

 private:
  static std::uint64_t BytesOf(const Kept& kept) { return sizeof(Kept) + broker::BytesOf(kept.payloads); }
  void Pop() {
    bytes_ -= BytesOf(kept_.front());
    kept_.pop_front();
  }

  std::deque<Kept> kept_;
  std::uint64_t bytes_ = 0;
  std::uint64_t pings_ = 0;
};

}  // namespace skerry::broker
