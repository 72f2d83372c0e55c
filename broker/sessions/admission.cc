#include "broker/sessions/admission.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "broker/jobs/library_names.h"
#include "common/wire/codec.h"

namespace skerry::broker {
namespace {

constexpr std::size_t kCodeHashBytes = 32;

JobError Invalid(std::string message, std::string limit = {}) {
  return MakeError(Code::kValidation, std::move(message), std::move(limit));
}

std::optional<JobError> CheckFields(const JobSpec& spec, const std::vector<Payload>& payloads) {
  for (const std::string* text : {&spec.id.str(), &spec.tenant.str(), &spec.user.str(), &spec.turn.str()}) {
    if (!IsPrintableId(*text))
      return Invalid("id, tenant, user and turn must not contain control characters");
  }
  if (spec.id.empty()) return Invalid("id must be 1 to 256 bytes");
  if (spec.tenant.empty()) return Invalid("tenant must be 1 to 256 bytes");
  if (spec.priority < kMinPriority || spec.priority > kMaxPriority) {
    return Invalid("priority must be -100 to 100, got " + std::to_string(spec.priority));
  }
  if (spec.deadline_ms > kMaxDeadlineMs) {
    return Invalid("deadlineMs must be at most " + std::to_string(kMaxDeadlineMs) + ", got " +
                   std::to_string(spec.deadline_ms));
  }
  if (auto fault = FaultInReproducibility(spec)) return Invalid(*std::move(fault));
  if (!spec.code_hash.empty() && spec.code_hash.size() != kCodeHashBytes) {
    return Invalid("codeHash must be 32 bytes, got " + std::to_string(spec.code_hash.size()));
  }
  if (spec.program && spec.code_hash.empty())
    return Invalid("program must come with the codeHash of its code");
  if (auto fault = FaultInLibraries(spec.libraries, kMaxLibraries)) return Invalid(*std::move(fault));
  if (payloads.size() != 2) {
    return Invalid("submit must have 2 payload frames (code, input), got " + std::to_string(payloads.size()));
  }
  return std::nullopt;
}

/// The pool's ceilings first, then the tenant's own: a refusal says whose it was.
std::variant<Limits, JobError> LimitsOf(const JobSpec& spec, const Ceilings& pools,
                                        const TenantPolicy& policy) {
  const auto by_pool = ResolveLimits(spec.limits, pools);
  if (const auto* refusal = std::get_if<LimitRefusal>(&by_pool))
    return Invalid(refusal->message, refusal->field);
  for (const auto& [name, value] : spec.limits) {
    const auto ceiling = policy.ceilings.find(name);
    if (ceiling == policy.ceilings.end() || value <= ceiling->second) continue;
    return Invalid(name + " " + std::to_string(value) + " is over the ceiling of " +
                       std::to_string(ceiling->second) + " of tenant '" + spec.tenant.str() + "'",
                   name);
  }
  const auto resolved = ResolveLimits(spec.limits, policy.CeilingsBelow(pools));
  if (const auto* refusal = std::get_if<LimitRefusal>(&resolved))
    return Invalid(refusal->message, refusal->field);
  return std::get<Limits>(resolved);
}

}  // namespace

std::optional<JobError> CheckCode(const Payload& code, const Limits& limits) {
  const std::uint64_t max_code = limits.Get(LimitId::kMaxCodeBytes);
  if (code.size() <= max_code) return std::nullopt;
  return Invalid(
      "code is " + std::to_string(code.size()) + " bytes, over maxCodeBytes " + std::to_string(max_code),
      "maxCodeBytes");
}

std::variant<Limits, JobError> Admit(const JobSpec& spec, const std::vector<Payload>& payloads,
                                     const BrokerConfig& config, const TenantPolicy& policy) {
  if (auto refused = CheckFields(spec, payloads)) return *std::move(refused);
  if (spec.wasm && !config.allow_wasm) {
    return Invalid("wasm is not allowed by this pool's operator (skerry-broker --allow-wasm)");
  }
  if (spec.wasm && !policy.wasm) return Invalid("wasm is not allowed for tenant '" + spec.tenant.str() + "'");
  for (const std::string& library : spec.libraries) {
    if (policy.libraries && !HasAll(*policy.libraries, {&library, 1})) {
      return Invalid("library '" + library + "' is not allowed for tenant '" + spec.tenant.str() + "'");
    }
  }
  if (policy.turn_executions > 0 && spec.turn_executions > policy.turn_executions) {
    return Invalid("turn.maxExecutions must be at most " + std::to_string(policy.turn_executions) +
                   " for this tenant, got " + std::to_string(spec.turn_executions));
  }
  auto resolved = LimitsOf(spec, config.ceilings, policy);
  if (auto* refused = std::get_if<JobError>(&resolved)) return std::move(*refused);
  const Limits& limits = std::get<Limits>(resolved);
  if (auto refused = CheckCode(payloads[0], limits)) return *std::move(refused);
  if (payloads[1].size() > kMaxInputBytes) {
    return Invalid("input is " + std::to_string(payloads[1].size()) + " bytes, at most " +
                   std::to_string(kMaxInputBytes) + " allowed");
  }
  return limits;
}

std::uint64_t Fingerprint(const JobSpec& spec, const std::vector<Payload>& payloads) {
  const std::hash<std::string_view> hash;
  std::uint64_t sum = hash(wire::Encode(wire::Submit{spec}));
  for (std::size_t frame = spec.program ? 1 : 0; frame < payloads.size(); ++frame) {
    // Order matters and equal frames must not cancel out: multiply before mixing (the constant is 2^64 /
    // phi).
    sum = sum * 0x9e3779b97f4a7c15ull + hash(payloads[frame].bytes());
  }
  return sum;
}

}  // namespace skerry::broker
