// What an operator may set on a broker, each with its default, range and trade-off.
//
// Threads: plain data, fixed before the core starts.
#pragma once

#include <cstdint>

#include "broker/jobs/crash_watch.h"
#include "common/limits.h"
#include "common/result.h"
#include "common/units.h"

namespace skerry::broker {

struct BrokerConfig {
  /// Jobs waiting for a worker, 1 and up. Past it a SUBMIT is OVERLOADED. More hides a lack of workers for
  /// longer.
  std::uint64_t max_queued = 100'000;
  /// Their code and input together. The broker's memory is bounded by this plus what runs.
  Bytes max_queued_bytes = Bytes::MiB(1024);
  /// Unfinished jobs a client is told it may have; twice as many are borne before SUBMITs are refused.
  std::uint64_t client_credit = 1024;
  /// Clients and workers connected at once, each; past it HELLO is refused.
  std::uint64_t max_peers = 4096;
  /// A PING goes to every peer this often. Range: 10 ms to 60 s.
  Millis heartbeat{1'000};
  /// A peer not heard of for this long is gone. At least three heartbeats; shorter finds dead workers sooner,
  /// and calls a machine dead that merely swapped.
  Millis peer_timeout{10'000};
  /// How long jobs and unacknowledged finals outlive a client's connection.
  Millis session_ttl{30'000};
  /// A worker that still answers PINGs but has not ended a job this long after its wall clock limit has lost
  /// it.
  Millis lease_grace{30'000};
  /// What OVERLOADED tells a client to wait.
  Millis retry_after{250};
  /// Re-dispatches of a `retry: "always"` job whose workers keep dying: a job that kills machines must end
  /// some day.
  std::uint32_t max_redispatches = 5;
  /// Finals kept per client until it acknowledges them, 1 and up; at either bound its queued jobs wait and
  /// its SUBMITs are OVERLOADED. More lets a client be slow for longer, at the broker's memory.
  std::uint64_t max_unacked_finals = 4096;
  Bytes max_unacked_bytes = Bytes::MiB(256);
  /// Events and host calls kept for a client that is away or reads slowly; past it events are dropped and
  /// counted, and calls rejected.
  Bytes max_backlog_bytes = Bytes::MiB(64);
  /// Bytes on their way to a client that it has not said to have read, 64 KiB and up. Less than what the link
  /// carries in a round trip slows a fast reader down; a slow one costs the broker this much.
  Bytes client_window = Bytes::MiB(16);
  /// Finals, events and calls kept for all clients together, 1 MiB and up. Past it, those that keep more than
  /// an equal share are held back as at max_unacked_bytes. Below the machine's memory less what queues and
  /// runs.
  Bytes max_held_bytes = Bytes::MiB(1024);
  /// Code of programs kept for jobs that name it by its hash, 1 MiB and up. What does not fit is asked for
  /// again: less costs clients' links, more the broker's memory.
  Bytes max_program_bytes = Bytes::MiB(256);
  /// How long a job first in line whose memory no worker has free may be passed by smaller jobs of others. 0:
  /// strictly in order. More keeps workers busier; large jobs wait longer.
  Millis max_overtaken{2'000};
  /// How much longer a job may have waited before it goes before one of the next higher priority of its
  /// tenant, 1 ms and up. Less makes priorities matter less.
  Millis priority_ageing{1'000};
  /// How long a worker that cannot be reached keeps its leases. Less than two heartbeats loses the jobs of
  /// workers whose link only broke; more lets those of dead machines wait.
  Millis worker_return{2'000};
  /// How long the session of a worker that lied is refused.
  Millis cut_off_time{60'000};
  /// Crashes of a program, and of all jobs of a tenant, within crash_window that have it refused for
  /// crash_refusal; 0 to CrashWatch::kMaxThreshold, 0: never. Fewer give hostile code fewer probes of a
  /// cell's layout, and stop programs sooner that merely run into a bug of V8.
  CrashRules crashes;
  Ceilings ceilings;
  /// Whether jobs may ask for WebAssembly: compilers of its own are more of V8 to attack.
  bool allow_wasm = false;
  /// Lease numbers start here. The shell sets a random start, so that a worker that outlived an earlier
  /// broker cannot hold a number that this one gives out.
  std::uint64_t first_lease = 1;

  /// Every fault at once, one a line, each beginning with its field.
  Status Validate() const;
};

}  // namespace skerry::broker
