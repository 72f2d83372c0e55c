// Where clients' messages wait while Redis is asked about a SUBMIT's rate: in front of the core, which hears
// of a job with its verdict, or when waiting is over.
//
//   if (const auto ask = core.AskFor(from, header); ask || gate.Holds(from)) number = gate.Hold(..., ask,
//   now); gate.Decide(number, verdict); while (auto ready = gate.TakeReady()) core.OnRatedSubmit(...)
//
// Whatever a client says behind a SUBMIT that waits waits behind it: the core sees each link's messages in
// their order (a CANCEL after its SUBMIT, an ACK after what it may forget), so that all it promises about
// them holds as it does without a gate. To the core it is a slower link. Messages of others pass.
//
// Verdicts come in the order of the asks: one line is enough. It is bounded in messages and bytes: whoever
// feeds it reads no more from its socket while there is no room.
//
// Threads: the core's. Ownership: the messages that it holds.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <vector>

#include "broker/outbox.h"
#include "broker/tenants/tenant_rates.h"
#include "common/units.h"

namespace skerry::broker {

class SubmitGate {
 public:
  static constexpr std::size_t kMaxMessages = 4096;
  static constexpr Bytes kMaxBytes = Bytes::MiB(64);

  struct Message {
    Peer from;
    wire::Header header;
    std::vector<Payload> payloads;
  };
  struct Ready {
    Message message;
    std::optional<RateAsk> ask;          ///< none: it only waited behind others
    std::optional<RateVerdict> verdict;  ///< none: nobody has said anything in time
  };

  /// `patience`: how long a verdict is waited for.
  explicit SubmitGate(Millis patience) : patience_(patience) {}

  /// Room for another message, however large.
  bool HasRoom() const { return line_.size() < kMaxMessages && bytes_ < kMaxBytes.count(); }
  /// Whether a message from there has to wait behind others.
  bool Holds(const Peer& from) const { return held_.contains(from); }
  /// The number that its verdict comes under.
  std::uint64_t Hold(Message message, std::optional<RateAsk> ask, TimePoint now);
  /// False: nobody waits for it (any more).
  bool Decide(std::uint64_t number, const RateVerdict& verdict);
  /// No verdict comes for what waits now.
  void GiveUp();
  /// The first in line, when its turn has come.
  std::optional<Ready> TakeReady();
  /// When the first in line has waited long enough. None: nobody waits.
  std::optional<TimePoint> Deadline() const;

  std::size_t size() const { return line_.size(); }

 private:
  struct Held {
    Ready ready;
    TimePoint since;
    std::uint64_t bytes = 0;
    bool decided = false;
  };

  const Millis patience_;
  std::deque<Held> line_;
  std::unordered_map<Peer, std::size_t> held_;  // how many of each link
  std::uint64_t first_ = 1;                     // the number of the first in line
  std::uint64_t bytes_ = 0;
};

}  // namespace skerry::broker
