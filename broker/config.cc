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
  if (session_ttl < Millis(0)) complain("session_ttl must not be negative");
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
