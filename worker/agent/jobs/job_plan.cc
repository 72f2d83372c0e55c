#include "worker/agent/jobs/job_plan.h"

#include <utility>

#include "common/text_check.h"

namespace skerry::agent {
namespace {

Ceilings HardMaxima() {
  Ceilings ceilings;
  for (const LimitSpec& spec : kLimitSpecs) ceilings.Set(spec.id, spec.hard_maximum);
  return ceilings;
}

RequestedLimits NamesOf(const Limits& limits) {
  RequestedLimits named;
  for (const LimitSpec& spec : kLimitSpecs) {
    if (limits.Get(spec.id) != kUnlimited) named.emplace_back(std::string(spec.name), limits.Get(spec.id));
  }
  return named;
}

JobError Invalid(std::string message, std::string field = {}) {
  return MakeError(Code::kValidation, std::move(message), std::move(field));
}

}  // namespace

std::variant<JobPlan, JobError> PlanJob(wire::Dispatch dispatch, std::vector<std::string> payloads,
                                        std::uint64_t max_memory_mb, const LibraryShelf& shelf) {
  if (payloads.size() != 2) return Invalid("a job has two payloads, code and input");
  if (auto fault = FaultInReproducibility(dispatch.job)) return Invalid(*std::move(fault));
  auto resolved = ResolveLimits(dispatch.job.limits, HardMaxima());
  if (auto* refused = std::get_if<LimitRefusal>(&resolved)) return Invalid(refused->message, refused->field);
  const Limits& limits = std::get<Limits>(resolved);
  if (limits.memory_mb() > max_memory_mb) {
    return Invalid("memoryMb " + std::to_string(limits.memory_mb()) +
                       " is more than this worker's cells can give (" + std::to_string(max_memory_mb) + ")",
                   std::string(NameOf(LimitId::kMemoryMb)));
  }
  const std::uint64_t max_code = limits.Get(LimitId::kMaxCodeBytes);
  if (payloads[0].size() > max_code) {
    return Invalid("the code has " + std::to_string(payloads[0].size()) + " bytes, over maxCodeBytes (" +
                       std::to_string(max_code) + ")",
                   std::string(NameOf(LimitId::kMaxCodeBytes)));
  }
  if (payloads[1].size() > kMaxInputBytes) {
    return Invalid("the input has more than " + std::to_string(kMaxInputBytes) + " bytes");
  }
  // V8 would read other bytes as U+FFFD: another program than was sent.
  if (!IsUtf8(payloads[0])) return Invalid("the code is not UTF-8");
  // MessagePack is the isolate's to read: it says what is wrong with it.
  if (dispatch.job.encoding == Encoding::kJson && !IsUtf8(payloads[1]))
    return Invalid("the input is not UTF-8");
  auto libraries = shelf.Pick(dispatch.job.libraries);
  if (!libraries) return Invalid(std::move(libraries.error().message));
  JobPlan plan;
  plan.dispatch = std::move(dispatch);
  plan.dispatch.job.limits = NamesOf(limits);
  plan.dispatch.job.memory_mb = limits.memory_mb();
  plan.limits = limits;
  plan.code = std::move(payloads[0]);
  plan.input = std::move(payloads[1]);
  plan.libraries = std::move(*libraries);
  return plan;
}

}  // namespace skerry::agent
