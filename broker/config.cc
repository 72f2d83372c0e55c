#include "broker/config.h"

#include <string>

namespace skerry::broker {

Status BrokerConfig::Validate() const {
  std::string faults;
  const auto complain = [&](const std::string& fault) { faults += (faults.empty() ? "" : "\n") + fault; };
  if (max_queued < 1) complain("max_queued must be at least 1");
  if (max_queued_bytes < Bytes::MiB(1)) complain("max_queued_bytes must be at least 1 MiB");
  if (client_credit < 1) complain("client_credit must be at least 1");
  if (max_peers < 1) complain("max_peers must be at least 1");
  if (heartbeat < Millis(10) || heartbeat > Millis(60'000)) complain("heartbeat must be 10 ms to 60 s");
  if (peer_timeout < 3 * heartbeat) complain("peer_timeout must be at least three heartbeats");
  if (max_unacked_finals < 1) complain("max_unacked_finals must be at least 1");
  if (client_window < Bytes::KiB(64)) complain("client_window must be at least 64 KiB");
  if (max_held_bytes < Bytes::MiB(1)) complain("max_held_bytes must be at least 1 MiB");
  if (max_program_bytes < Bytes::MiB(1)) complain("max_program_bytes must be at least 1 MiB");
  if (max_overtaken < Millis(0)) complain("max_overtaken must not be negative");
  if (priority_ageing < Millis(1)) complain("priority_ageing must be at least 1 ms");
  if (worker_return < Millis(0)) complain("worker_return must not be negative");
  if (cut_off_time < Millis(0)) complain("cut_off_time must not be negative");
  if (session_ttl < Millis(0)) complain("session_ttl must not be negative");
  if (crashes.program_crashes > CrashWatch::kMaxThreshold)
    complain("program_crashes must be at most " + std::to_string(CrashWatch::kMaxThreshold));
  if (crashes.tenant_crashes > CrashWatch::kMaxThreshold)
    complain("tenant_crashes must be at most " + std::to_string(CrashWatch::kMaxThreshold));
  if (crashes.window < Millis(1)) complain("crash_window must be at least 1 ms");
  if (crashes.refusal < Millis(1)) complain("crash_refusal must be at least 1 ms");
  for (const LimitSpec& spec : kLimitSpecs) {
    const std::uint64_t ceiling = ceilings.Get(spec.id);
    if (ceiling < spec.minimum || ceiling > spec.hard_maximum) {
      complain("ceilings." + std::string(spec.name) + " must be " + std::to_string(spec.minimum) + " to " +
               std::to_string(spec.hard_maximum) + ", got " + std::to_string(ceiling));
    }
  }
  if (!faults.empty()) return Fail(ErrorKind::kInvalid, faults);
  return {};
}

}  // namespace skerry::broker
