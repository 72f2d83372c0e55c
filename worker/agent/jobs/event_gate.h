// The worker's own count of what a run may send and receive. The engine inside has counted already; a hostile
// isolate may lie, so everything is counted once more here.
//
//   events    past a cap: dropped and counted, as DESIGN section 4 says
//   calls     past a cap, misnumbered or malformed: the protocol is broken (the engine would have rejected
//   the call) answers   the one that would pass maxDataBytes, and those after it that would: delivered as a
//   refusal
//
// Threads: plain data. Errors: an Error means that the isolate broke the protocol, and says how.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string_view>

#include "common/job.h"
#include "common/limit_set.h"
#include "common/limits.h"
#include "common/outcome.h"
#include "common/result.h"
#include "common/wire/messages.h"

namespace skerry::agent {

enum class Pass : std::uint8_t { kForward, kDrop };

class EventGate {
 public:
  explicit EventGate(const Limits& limits, Encoding encoding = Encoding::kJson)
      : limits_(limits), encoding_(encoding) {}

  Result<Pass> OnEvent(const wire::Event& event, std::string_view payload);
  /// The isolate's own figure; it can only grow.
  void OnDropped(std::uint64_t events);
  /// The isolate's word that a limit curtailed its job; an Error for a limit that it cannot know about.
  Status OnTripped(std::string_view limit);
  Status OnCall(std::uint32_t call, std::string_view method, std::string_view params);
  /// How the answer is to be delivered; nothing: the call is not open (answered already, never made).
  std::optional<wire::AnswerKind> OnAnswer(std::uint32_t call, wire::AnswerKind kind, std::size_t bytes);
  /// An event passed the gate but could not be sent on.
  void CountLost() { ++dropped_here_; }

  bool made_host_call() const { return calls_ > 0; }
  /// Fills data, event and drop counts, and the limits that curtailed the job.
  void Report(Usage& usage) const;

 private:
  Pass Drop(LimitId limit);
  std::uint64_t Limit(LimitId id) const { return limits_.Get(id); }

  Limits limits_;
  Encoding encoding_;
  std::uint64_t status_events_ = 0;
  std::uint64_t console_events_ = 0;
  std::uint64_t event_bytes_ = 0;
  std::uint64_t dropped_here_ = 0;
  std::uint64_t dropped_inside_ = 0;
  std::uint32_t calls_ = 0;
  std::uint64_t data_bytes_ = 0;
  std::set<std::uint32_t> open_calls_;
  LimitSet tripped_;
};

/// A value from the client that is not JSON, or MessagePack, breaks the wire, which is not the program's
/// fault: it becomes an error that says so, for the call to reject with.
void CheckAnswer(wire::AnswerKind& kind, std::string& payload, Encoding encoding = Encoding::kJson);

/// The largest payload frame that a run with these limits may send.
std::size_t MaxFrameBytes(const Limits& limits, Encoding encoding = Encoding::kJson);

}  // namespace skerry::agent
