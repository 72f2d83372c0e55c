// A job inside the broker: what was asked, where it stands, and, once it has ended, its final.
//
// Lean, since it may be one of 100,000 that wait: what other jobs have in common with it is held once for all
// of them, and what only a run or an end needs is made then (docs/performance.md counts the bytes).
//
// Ownership: a Session owns its jobs; the queue and the workers' lease tables point to them. Threads: the
// core's.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "broker/jobs/crash_watch.h"
#include "broker/jobs/intern.h"
#include "broker/jobs/job_state.h"
#include "broker/jobs/library_names.h"
#include "broker/jobs/payload.h"
#include "common/job.h"
#include "common/units.h"
#include "common/wire/messages.h"

namespace skerry::broker {

struct Job;
struct Session;
struct Worker;
struct FairUser;

/// A host call as it went to the client.
struct OpenCall {
  wire::Call header;
  std::vector<Payload> payloads;
  std::uint64_t bytes() const { return sizeof(OpenCall) + BytesOf(payloads); }
};

/// What a worker knows of what jobs may ask. Each includes those before it.
enum class Skill : std::uint8_t {
  kPlain,
  kReproducible,  ///< seed, clock and receipt
  kPrograms,      ///< libraries, program, reuse, encoding and NEED
};

/// What a job asks of the worker that is to run it.
struct Need {
  std::uint64_t memory_mb = 0;
  Skill skill = Skill::kPlain;  ///< else a worker would pass over what it does not know, and not say so
  std::span<const std::string> libraries = {};  ///< the job's: valid as long as it is
};
Need NeedOf(const JobSpec& spec);
Need NeedOf(const Job& job);

/// Who pays for a job, and for whom it runs.
struct Account {
  TenantId tenant;
  UserId user;
  bool operator==(const Account&) const = default;
};
struct AccountHash {
  std::size_t operator()(const Account& account) const;
};

/// How a job is to be run: the same for most jobs of a tenant.
struct Terms {
  Limits limits;  ///< resolved
  LibraryNames libraries;
  Mode mode = Mode::kFunction;
  bool wasm = false;
  bool program = false;
  Reuse reuse = Reuse::kNone;
  Encoding encoding = Encoding::kJson;
  bool operator==(const Terms&) const = default;
};
struct TermsHash {
  std::size_t operator()(const Terms& terms) const;
};

/// What jobs have in common. Must outlive them.
struct SharedParts {
  InternTable<Account, AccountHash> accounts;
  InternTable<Terms, TermsHash> terms;
};

/// One run on one worker, or two of a worker that runs it again by itself.
struct Lease {
  Worker* worker = nullptr;
  LeaseId id;
  TimePoint since;
  TimePoint deadline;
  std::uint32_t dispatched_attempt = 1;
  std::uint32_t last_call = 0;  ///< of the present attempt
  std::uint64_t events = 0;     ///< of the present attempt
  bool heard_of = false;        ///< its worker has said something about this lease
  bool code_left_out = false;   ///< of its DISPATCH: the worker may ask for it, once
  FairUser* user = nullptr;     ///< whom the queue charged for it
  std::uint64_t charged_us = 0;
  std::map<std::uint32_t, OpenCall> open_calls;  ///< relayed, not answered: for a client that lost them
};

/// What few jobs have: those that ask for what JobSpec says of these, and those that others have passed.
struct JobExtras {
  std::optional<std::uint64_t> seed;
  std::optional<std::uint64_t> clock_ms;
  bool receipt = false;
  std::optional<TimePoint> short_of_memory_since;  ///< first in line, and no worker has what it needs free
};

/// How it ended.
struct JobEnd {
  std::uint64_t number = 0;  ///< order among its session's finals
  wire::Final final;
  std::vector<Payload> payloads;  ///< value or error detail, perhaps a receipt
};

struct Job {
  static constexpr TimePoint kNever = TimePoint::max();
  using CodeHash = std::array<char, 32>;

  Session* session = nullptr;
  JobId id;
  Interned<Account> account;
  Interned<Terms> terms;
  std::unique_ptr<CodeHash> code_hash;  ///< null: its client gave none
  std::unique_ptr<JobExtras> extras;    ///< null: none
  std::uint64_t fingerprint = 0;  ///< of header, code and input: the same id with another one is another job
  std::array<Payload, 2> payloads;  ///< code, input; dropped at the end
  std::uint32_t memory_mb = 0;      ///< of its limits
  std::uint32_t deadline_ms = 0;    ///< as it was asked; 0: none
  std::int8_t priority = 0;
  Retry retry = Retry::kSafe;
  Admission admission = Admission::kQueue;
  JobState state = JobState::kQueued;
  bool cancel_on_disconnect = false;
  bool parked = false;  ///< queued, and out of its line until a worker comes that has its libraries

  // Of all its runs.
  bool call_relayed = false;         ///< it has asked its client for something: a second run would ask twice
  std::uint8_t bounces = 0;          ///< dispatches a worker had no room for after all
  std::uint32_t attempt = 1;         ///< of the present run; a worker that runs it again itself says so
  std::uint32_t dropped_events = 0;  ///< dropped here, for a client that was away; its caps bound them
  double queue_ms = 0;               ///< of the times before, when it was queued more than once

  // While queued: its place, which is the queue's business.
  std::int64_t order = 0;  ///< 0: not queued
  Job* ahead = nullptr;    ///< in its session's line, or among those that wait for the same libraries
  Job* behind = nullptr;
  TimePoint queued_since;
  TimePoint deadline = kNever;

  std::unique_ptr<Lease> lease;  ///< while running
  std::unique_ptr<JobEnd> end;   ///< once ended

  const Limits& limits() const { return terms->limits; }
  /// Its code may be left out towards who has it, and its frame may be shared.
  bool is_program() const { return terms && terms->program; }
  std::span<const std::string> libraries() const {
    return terms ? std::span<const std::string>(terms->libraries) : std::span<const std::string>();
  }
  /// Runs before this one, after a lost worker or a signal.
  std::uint32_t runs_before() const { return attempt - 1; }
  std::string_view code_hash_bytes() const {
    return code_hash == nullptr ? std::string_view() : std::string_view(code_hash->data(), code_hash->size());
  }
};

// Malloc rounds up to 16, and a job is to take 400 bytes in all with its frames and its place in tables.
static_assert(sizeof(Job) <= 184);

/// Of a SUBMIT that was admitted with these limits: its ranges are checked.
std::unique_ptr<Job> MakeJob(const JobSpec& spec, const Limits& limits, SharedParts& shared);
/// Nobody's where its client has named none.
const Account& AccountOf(const Job& job);
/// Of a job that has not ended.
Program ProgramOf(const Job& job);
/// What its DISPATCH says: the limits name every limit that is set.
JobSpec SpecOf(const Job& job);

/// Moves the job on. False, logged, and nothing done where the event means nothing in its state.
bool Advance(Job& job, JobEvent event);

}  // namespace skerry::broker
