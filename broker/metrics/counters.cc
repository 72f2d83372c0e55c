#include "broker/metrics/counters.h"

namespace skerry::broker {

std::string_view NameOf(Rejection rejection) {
  constexpr std::array<std::string_view, kRejectionCount> kNames = {
      "validation",  "duplicate_id", "credit",     "never_fits", "no_worker",
      "no_slot",     "no_memory",    "queue_full", "unread",     "crashes",
      "tenant_busy", "tenant_queue", "rate",       "turn",       "tenant"};
  return kNames[static_cast<std::size_t>(rejection)];
}

std::string_view NameOf(PeerRefusal refusal) {
  constexpr std::array<std::string_view, kPeerRefusalCount> kNames = {
      "version", "role", "hello", "too_many", "malformed", "unexpected", "cut_off", "revoked", "tenant"};
  return kNames[static_cast<std::size_t>(refusal)];
}

std::string_view NameOf(HandshakeRefusal refusal) {
  constexpr std::array<std::string_view, kHandshakeRefusalCount> kNames = {
      "unknown_key", "revoked_key", "wrong_door", "mechanism", "protocol", "unfinished", "too_many", "flood"};
  return kNames[static_cast<std::size_t>(refusal)];
}

std::string_view NameOf(CodeWay way) {
  constexpr std::array<std::string_view, kCodeWayCount> kNames = {"sent", "left_out", "needed"};
  return kNames[static_cast<std::size_t>(way)];
}

}  // namespace skerry::broker
