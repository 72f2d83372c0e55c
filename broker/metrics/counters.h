// What the broker counts, as plain numbers; metrics.h shows them to Prometheus (docs/metrics.md says what
// each means).
//
// Threads: the core's; the shell copies them out between events.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "common/limits.h"
#include "common/outcome.h"
#include "common/pool_limits.h"
#include "common/time_histogram.h"
#include "common/worker_stats.h"

namespace skerry::broker {

/// Why a SUBMIT was refused before it was queued.
enum class Rejection : std::uint8_t {
  kValidation,   ///< a field, a limit, a payload
  kDuplicateId,  ///< the id was submitted before with other content
  kCredit,       ///< the client has too many unfinished jobs
  kNeverFits,    ///< no worker could ever give it the memory
  kNoWorker,     ///< failFast, and no worker takes jobs
  kNoSlot,       ///< failFast, and every slot is taken
  kNoMemory,     ///< failFast, and no worker with a slot has the memory
  kQueueFull,
  kUnread,       ///< the client does not read, or acknowledge, the finals that it has
  kCrashes,      ///< its program, or its tenant, keeps crashing
  kTenantBusy,   ///< failFast, and its tenant runs all it may
  kTenantQueue,  ///< its tenant has all queued that it may
  kRate,         ///< its tenant, or its user, submits too often
  kTurn,         ///< its turn has had all its executions
  kTenant,       ///< its client's key is of another tenant
};
inline constexpr std::size_t kRejectionCount = 15;

/// Why a peer was told REFUSE.
enum class PeerRefusal : std::uint8_t {
  kVersion,
  kRole,   ///< a client where workers are expected, or the other way round
  kHello,  ///< a HELLO that says what cannot be
  kTooMany,
  kMalformed,   ///< a message that is none
  kUnexpected,  ///< a message that this kind of peer does not send
  kCutOff,      ///< a worker that lied, now or a while ago
  kRevoked,     ///< its key was authorized and is no more
  kTenant,      ///< a HELLO that names another tenant than its key's
};
inline constexpr std::size_t kPeerRefusalCount = 9;

/// Why a connection was not let in, or (kFlood) did not stay.
enum class HandshakeRefusal : std::uint8_t {
  kUnknownKey,
  kRevokedKey,
  kWrongDoor,   ///< a worker's key where clients are expected, or the other way round
  kMechanism,   ///< it does not encrypt where we do, or the other way round
  kProtocol,    ///< it does not speak the protocol, or has another key for us than ours
  kUnfinished,  ///< it went away, or said nothing, before its handshake was done
  kTooMany,     ///< more at once than are borne: the oldest unfinished goes
  kFlood,       ///< it went on with a message past what any may have
};
inline constexpr std::size_t kHandshakeRefusalCount = 8;

/// How the code of a program came to the broker, or went to a worker.
enum class CodeWay : std::uint8_t {
  kSent,     ///< it came along
  kLeftOut,  ///< the other side had it
  kNeeded,   ///< it was left out and had to be asked for
};
inline constexpr std::size_t kCodeWayCount = 3;

std::string_view NameOf(Rejection rejection);
std::string_view NameOf(PeerRefusal refusal);
std::string_view NameOf(CodeWay way);
std::string_view NameOf(HandshakeRefusal refusal);

struct BrokerCounters {
  std::uint64_t submitted = 0;    ///< accepted or rejected
  std::uint64_t resubmitted = 0;  ///< the same job again: answered from its record
  std::uint64_t accepted = 0;
  std::array<std::uint64_t, kRejectionCount> rejected{};  ///< by Rejection
  std::uint64_t dispatched = 0;
  std::uint64_t redispatched = 0;
  std::uint64_t turned_down = 0;       ///< dispatches that the worker had no room for
  std::uint64_t refused_in_queue = 0;  ///< their program or tenant keeps crashing, or they are given back
  std::uint64_t finished_ok = 0;
  std::array<std::uint64_t, kCodeCount> finished_error{};         ///< by Code
  std::array<std::uint64_t, kFaultCount> failed{};                ///< by Fault
  std::array<std::uint64_t, kLimitCount> limit_trips{};           ///< by LimitId, once per job and limit
  std::array<std::uint64_t, kPoolLimitCount> pool_limit_trips{};  ///< by PoolLimit, once per job and limit
  TimeHistogram queue_times;  ///< accepted to dispatched, or to its end in the queue
  TimeHistogram run_times;    ///< wall clock of jobs that ran
  TimeHistogram cpu_times;
  std::uint64_t result_bytes = 0;

  std::uint64_t rated_by_redis = 0;  ///< jobs whose rates Redis decided on
  std::uint64_t rated_by_share = 0;  ///< and those that this broker's share did, Redis being lost
  std::uint64_t redis_losses = 0;

  std::array<std::uint64_t, kCodeWayCount> program_submits{};     ///< by CodeWay
  std::array<std::uint64_t, kCodeWayCount> program_dispatches{};  ///< by CodeWay
  std::uint64_t program_evictions = 0;                            ///< code that had to make room

  std::array<std::uint64_t, 2> events_relayed{};  ///< by EventType
  std::uint64_t dropped_by_limit = 0;             ///< by isolates and workers, as finals say
  std::uint64_t dropped_events =
      0;  ///< events and calls for clients that were away, or read too slowly, for too long
  std::uint64_t host_calls = 0;
  std::uint64_t host_call_bytes = 0;  ///< methods and params
  std::uint64_t host_answers = 0;
  std::uint64_t host_answer_bytes = 0;

  std::uint64_t stray_finals = 0;            ///< for leases their worker does not hold
  std::uint64_t stray_messages = 0;          ///< events and calls of such leases, answers to no open job
  std::uint64_t late_messages = 0;           ///< about leases that had been taken from their worker
  std::uint64_t unheard_messages = 0;        ///< by keys that were revoked after they had come in
  std::uint64_t repeated_messages = 0;       ///< sent again after a broken link, and seen before
  std::uint64_t unknown_messages = 0;        ///< of a type that only newer peers know
  std::array<std::uint64_t, 2> malformed{};  ///< by Side
  std::array<std::uint64_t, kPeerRefusalCount> refused{};                  ///< by PeerRefusal
  std::array<std::uint64_t, kHandshakeRefusalCount> handshakes_refused{};  ///< by HandshakeRefusal
  std::uint64_t workers_cut_off = 0;                                       ///< for a lie: worker_conduct.h
  WorkerStats workers;  ///< the counts of all workers together

  void Count(Rejection rejection) { ++rejected[static_cast<std::size_t>(rejection)]; }
  void Count(PeerRefusal refusal) { ++refused[static_cast<std::size_t>(refusal)]; }
  void Count(HandshakeRefusal refusal) { ++handshakes_refused[static_cast<std::size_t>(refusal)]; }
};

}  // namespace skerry::broker
