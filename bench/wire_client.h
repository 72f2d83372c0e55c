// A client of as little as the wire asks for: what is measured through it is the broker, not the client.
//
// It greets, submits, answers PINGs, acknowledges finals in batches. Towards a relay (kRelay), which knows
// nothing of all that, it only submits and reads finals; its messages are the same.
//
// Threads: one. Ownership: borrows the context. Errors: a broker that refuses, or takes nothing for a while,
// is one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>
#include <zmq.hpp>

#include "common/job.h"
#include "common/result.h"
#include "common/units.h"
#include "common/wire/codec.h"

namespace skerry::bench {

enum class FarSide : std::uint8_t { kBroker, kRelay };

/// Whether a client wants to hear that a job is queued.
enum class Hears : bool { kFinals, kAccepted };

/// Frames of one message, the first being the header.
void SendFrames(zmq::socket_t& socket, const std::vector<std::string_view>& frames);

class WireClient {
 public:
  WireClient(zmq::context_t& context, const std::string& endpoint, FarSide far_side);

  /// Waits for the WELCOME; nothing to do with a relay.
  Status Greet(Hears hears = Hears::kFinals);
  void Submit(const JobSpec& job, std::string_view code, std::string_view input);
  /// The next final, nothing within `patience`, or why there will be none.
  Result<std::optional<wire::Final>> NextFinal(Millis patience);
  /// How many jobs the broker has said to have queued, to who hears of it.
  std::uint64_t accepted() const { return accepted_; }

 private:
  /// One message, if one has come: a final, or what is dealt with here.
  Result<std::optional<wire::Final>> Receive(bool& came);
  void Acknowledge(const JobId& id);
  void FlushAcks();

  zmq::socket_t socket_;
  const FarSide far_side_;
  bool welcomed_ = false;
  std::uint64_t accepted_ = 0;
  wire::Ack acks_;
};

}  // namespace skerry::bench
