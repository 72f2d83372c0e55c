// A job inside the broker: what was asked, where it stands, and, once it has ended, its final.
//
// Ownership: a Session owns its jobs; the queue and the workers' lease tables point to them. Threads: the
// core's.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "broker/job_state.h"
#include "broker/payload.h"
#include "common/job.h"
#include "common/units.h"
#include "common/wire/messages.h"

namespace skerry::broker {

struct Session;
struct Worker;

/// A host call as it went to the client.
struct OpenCall {
  wire::Call header;
  std::vector<Payload> payloads;
  std::uint64_t bytes() const { return sizeof(OpenCall) + BytesOf(payloads); }
};

/// What a worker knows of what jobs may ask. Each includes those before it.
enum class Skill : std::uint8_t { kPlain, kReproducible };  // the latter knows seed, clock and receipt
inline constexpr std::size_t kSkills = 2;

/// What a job asks of the worker that is to run it.
struct Need {
  std::uint64_t memory_mb = 0;
  Skill skill = Skill::kPlain;  ///< else a worker would pass over what it does not know, and not say so
};
Need NeedOf(const JobSpec& spec);

struct Job {
  Session* session = nullptr;
  JobSpec spec;                   ///< its limits resolved: every limit that is set, by name
  std::uint64_t fingerprint = 0;  ///< of header, code and input: the same id with another one is another job
  std::vector<Payload> payloads;  ///< code, input; dropped at the end
  JobState state = JobState::kQueued;

  // While queued.
  std::int64_t order = 0;  ///< place in the queue
  TimePoint queued_since;
  std::optional<TimePoint> deadline;
  std::optional<TimePoint> short_of_memory_since;  ///< first in line, and no worker has its memory free
  double queue_ms = 0;                             ///< of the times before, when it was queued more than once

  // While running.
  Worker* worker = nullptr;
  LeaseId lease;
  TimePoint lease_deadline;
  std::uint32_t attempt = 1;  ///< of the present run; a worker that runs it again itself says so
  std::uint32_t dispatched_attempt = 1;
  std::uint32_t last_call = 0;                   ///< of the present attempt
  std::uint64_t events = 0;                      ///< of the present attempt
  bool heard_of = false;                         ///< its worker has said something about this lease
  std::uint32_t redispatches = 0;                ///< after a lost worker
  std::uint32_t bounces = 0;                     ///< dispatches a worker had no room for after all
  std::map<std::uint32_t, OpenCall> open_calls;  ///< relayed, not answered: for a client that lost them
  bool call_relayed = false;         ///< it has asked its client for something: a second run would ask twice
  std::uint64_t dropped_events = 0;  ///< dropped here, for a client that was away

  // Once ended.
  std::uint64_t final_number = 0;  ///< order among its session's finals
  wire::Final final;
  std::vector<Payload> final_payloads;  ///< value or error detail, perhaps a receipt
};

/// Moves the job on. False, logged, and nothing done where the event means nothing in its state.
bool Advance(Job& job, JobEvent event);

}  // namespace skerry::broker
