// Load on the broker's core alone, without sockets, on a clock that stands still: what a job costs it with so
// many workers, tenants and queued jobs.
//
// Threads: one. Ownership: owns the core and its peers' state.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "broker/broker_core.h"
#include "common/result.h"
#include "common/units.h"

namespace skerry::bench {

struct CoreSize {
  std::uint64_t workers = 1;
  std::uint64_t tenants = 1;  ///< each with a client of its own
  std::uint64_t queued = 1;   ///< beside those that run
};

class CoreLoad {
 public:
  explicit CoreLoad(const CoreSize& size);

  /// Nanoseconds of a job's whole way: its FINAL comes in, the next job is dispatched, the client
  /// acknowledges and submits another. What peers do meanwhile is not counted. Fails when a worker's slot
  /// stays empty.
  Result<double> NsPerJob(Millis duration);

 private:
  static constexpr std::uint64_t kSlots = 4;  // of each worker

  void Connect(const CoreSize& size);
  void Submit(std::uint64_t tenant);
  /// Keeps what the sends mean for their peers; the tenants whose jobs have ended.
  std::vector<std::pair<std::uint64_t, JobId>> Deliver();
  void Say(const broker::Peer& from, wire::Header header, std::vector<broker::Payload> payloads = {});

  const TimePoint now_;
  broker::BrokerCore core_;
  struct Lease {
    broker::Peer worker;
    LeaseId id;
  };
  std::deque<Lease> running_;  // the oldest first
  std::uint64_t next_id_ = 0;
};

/// Bytes of heap that a queued job takes in the core beyond its own code and input.
double CoreBytesPerQueuedJob(std::uint64_t jobs);

}  // namespace skerry::bench
