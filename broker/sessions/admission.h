// Whether a SUBMIT may be queued at all: ids, ranges, payloads, limits against the operator's ceilings.
//
// Errors: a refusal is the job's outcome (VALIDATION with its field), not an Error of ours. Threads: pure.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "broker/config.h"
#include "broker/jobs/payload.h"
#include "broker/tenants/tenants.h"
#include "common/job.h"
#include "common/limits.h"
#include "common/outcome.h"

namespace skerry::broker {

inline constexpr std::int32_t kMinPriority = -100;
inline constexpr std::int32_t kMaxPriority = 100;
/// The longest queue deadline, a week: larger numbers would overflow the clock.
inline constexpr std::uint64_t kMaxDeadlineMs = 7ull * 24 * 3600 * 1000;

/// The limits that it runs under, or why it does not. What pool and tenant allow, both must.
std::variant<Limits, JobError> Admit(const JobSpec& spec, const std::vector<Payload>& payloads,
                                     const BrokerConfig& config, const TenantPolicy& policy = {});
/// Of code that was left out and found here.
std::optional<JobError> CheckCode(const Payload& code, const Limits& limits);

/// Tells two jobs of one id apart: a hash of the header and the payload bytes as they came. Not proof against
/// an adversary: a client could only fool itself.
/// The code of a program is its hash: the same whether it came along or not.
std::uint64_t Fingerprint(const JobSpec& spec, const std::vector<Payload>& payloads);

}  // namespace skerry::broker
