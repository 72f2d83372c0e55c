// What a worker may truthfully say about a lease, and what is a lie. A worker that lies is cut off.
//
// Lies: anything about a lease that it does not hold and that was not taken from it (never given, ended
// already, another worker's); the wrong number of payloads; an attempt that goes back or past what a worker
// may run by itself; a call that goes back; a question for code that it was sent; more events than the job's
// caps let through. What an isolate says its worker has checked: none of this can come from a tenant's
// program.
//
// Threads: pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "broker/jobs/job.h"

namespace skerry::broker {

/// Runs of one lease: a worker runs a job that died of a signal once more by itself.
inline constexpr std::uint32_t kRunsPerLease = 2;

/// A message of a worker about one lease.
struct Claim {
  std::string_view type;
  std::uint32_t attempt = 1;
  std::size_t payloads = 0;
  std::size_t payloads_due = 0;
};

/// What is wrong with it, given the job that holds the lease. All are about running jobs.
std::optional<std::string> LieIn(const Claim& claim, const Job& job);
std::optional<std::string> LieIn(const wire::Call& call, const Job& job);
/// Code that was not left out, that was asked for before, or of a job that runs.
std::optional<std::string> LieIn(const wire::Need& need, std::size_t payloads, const Job& job);
/// How a job cannot have ended on a worker: refused by the broker's own rules, or cancelled when nobody
/// asked.
std::optional<std::string> LieIn(const wire::Final& final, const Job& job);
/// Whether the second payload of a final is one that its job has asked for, and no larger than receipts are.
bool MayCarryReceipt(const Job& job, const std::vector<Payload>& payloads);
/// Its lease counts this event already.
std::optional<std::string> TooManyEvents(const Job& job);

}  // namespace skerry::broker
