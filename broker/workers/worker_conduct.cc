#include "broker/workers/worker_conduct.h"

namespace skerry::broker {

std::optional<std::string> LieIn(const Claim& claim, const Job& job) {
  const std::string about =
      std::string(claim.type) + " for lease " + std::to_string(job.lease->id.value()) + " ";
  if (claim.payloads != claim.payloads_due) {
    return about + "with " + std::to_string(claim.payloads) + " payloads instead of " +
           std::to_string(claim.payloads_due);
  }
  if (claim.attempt < job.attempt) {
    return about + "of attempt " + std::to_string(claim.attempt) + " after attempt " +
           std::to_string(job.attempt);
  }
  if (claim.attempt - job.lease->dispatched_attempt >= kRunsPerLease) {
    return about + "of attempt " + std::to_string(claim.attempt) + ", dispatched as attempt " +
           std::to_string(job.lease->dispatched_attempt);
  }
  return std::nullopt;
}

std::optional<std::string> LieIn(const wire::Call& call, const Job& job) {
  if (call.attempt == job.attempt && call.call <= job.lease->last_call) {
    return "call " + std::to_string(call.call) + " of lease " + std::to_string(job.lease->id.value()) +
           " after call " + std::to_string(job.lease->last_call);
  }
  return std::nullopt;
}

std::optional<std::string> LieIn(const wire::Need& need, std::size_t payloads, const Job& job) {
  const std::string about = "need for lease " + std::to_string(need.lease.value());
  if (payloads > 0) return about + " with " + std::to_string(payloads) + " payloads instead of 0";
  if (!job.lease->code_left_out) return about + ", which came with its code";
  if (job.lease->heard_of) return about + ", of which it has spoken";
  return std::nullopt;
}

std::optional<std::string> LieIn(const wire::Final& final, const Job& job) {
  if (final.ok) return std::nullopt;
  const bool brokers =
      final.code == Code::kExpired || final.code == Code::kRateLimited || final.code == Code::kUnauthorized;
  const bool nobodys = final.code == Code::kCancelled && job.state != JobState::kCancelling;
  if (!brokers && !nobodys) return std::nullopt;
  return "a final for lease " + std::to_string(job.lease->id.value()) + " with the code " +
         std::string(NameOf(final.code)) + ", which is not its to give";
}

bool MayCarryReceipt(const Job& job, const std::vector<Payload>& payloads) {
  return job.extras != nullptr && job.extras->receipt && payloads.size() == 2 &&
         payloads[1].size() <= kMaxReceiptBytes;
}

std::optional<std::string> TooManyEvents(const Job& job) {
  const std::uint64_t status = job.limits().Get(LimitId::kMaxStatusEvents);
  const std::uint64_t console = job.limits().Get(LimitId::kMaxConsoleEvents);
  if (status == kUnlimited || console == kUnlimited || job.lease->events <= status + console)
    return std::nullopt;
  return std::to_string(job.lease->events) + " events of lease " + std::to_string(job.lease->id.value()) +
         ", whose caps let " + std::to_string(status + console) + " through";
}

}  // namespace skerry::broker
