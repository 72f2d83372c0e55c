#include "broker/door/zap.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "common/keys/key.h"

namespace skerry::broker {
namespace {

constexpr const char* kVersion = "1.0";
constexpr std::size_t kFixedFrames = 6;  // version, id, domain, address, routing id, mechanism

std::optional<Door> DoorOf(const std::string& domain) {
  for (const Door door : kDoors) {
    if (DomainOf(door) == domain) return door;
  }
  return std::nullopt;
}

ZapVerdict Refused(HandshakeRefusal why, std::string user = {}) {
  return {why, std::move(user)};
}

ZapVerdict JudgeKey(const ZapRequest& request, Side side, const AuthorizedKeys& keys) {
  if (request.mechanism != "CURVE") return Refused(HandshakeRefusal::kMechanism);
  if (request.credentials.size() != 1 || request.credentials[0].size() != keys::kKeyBytes) {
    return Refused(HandshakeRefusal::kProtocol);
  }
  keys::KeyBytes bytes{};
  std::copy(request.credentials[0].begin(), request.credentials[0].end(), bytes.begin());
  const std::string key = keys::Z85Text(bytes);
  if (keys.IsRevoked(key)) return Refused(HandshakeRefusal::kRevokedKey, key);
  const Proof owner = keys.Find(key);
  if (owner == nullptr) return Refused(HandshakeRefusal::kUnknownKey, key);
  if (owner->side != side) return Refused(HandshakeRefusal::kWrongDoor, key);
  return {std::nullopt, key};
}

}  // namespace

Door DoorWithKeys(Side side) {
  switch (side) {
    case Side::kClient:
      return Door::kClientsWithKeys;
    case Side::kWorker:
      return Door::kWorkersWithKeys;
    case Side::kAdmin:
      break;
  }
  return Door::kAdminsWithKeys;
}

Door PlainDoor(Side side) {
  switch (side) {
    case Side::kClient:
      return Door::kClientsPlain;
    case Side::kWorker:
      return Door::kWorkersPlain;
    case Side::kAdmin:
      break;
  }
  return Door::kAdminsPlain;
}

const std::string& DomainOf(Door door) {
  static const std::array<std::string, std::size(kDoors)> kDomains = {
      "clients", "workers", "admins", "plain-clients", "plain-workers", "plain-admins"};
  return kDomains[static_cast<std::size_t>(door)];
}

std::optional<ZapRequest> ReadZapRequest(const std::vector<std::string>& frames) {
  if (frames.size() < kFixedFrames || frames[0] != kVersion) return std::nullopt;
  return ZapRequest{
      frames[1], frames[2], frames[3], frames[5], {frames.begin() + kFixedFrames, frames.end()}};
}

ZapVerdict Judge(const ZapRequest& request, const AuthorizedKeys& keys) {
  const auto door = DoorOf(request.domain);
  if (!door) return Refused(HandshakeRefusal::kProtocol);
  switch (*door) {
    case Door::kClientsWithKeys:
      return JudgeKey(request, Side::kClient, keys);
    case Door::kWorkersWithKeys:
      return JudgeKey(request, Side::kWorker, keys);
    case Door::kAdminsWithKeys:
      return JudgeKey(request, Side::kAdmin, keys);
    case Door::kClientsPlain:
    case Door::kWorkersPlain:
    case Door::kAdminsPlain:
      if (request.mechanism != "NULL") return Refused(HandshakeRefusal::kMechanism);
      return {std::nullopt, kPlainUser};
  }
  return Refused(HandshakeRefusal::kProtocol);
}

std::vector<std::string> ZapReply(const ZapRequest& request, const ZapVerdict& verdict) {
  // The peer is told that it was refused, and not why: that is in our log.
  if (verdict.refused) return {kVersion, request.id, "400", "refused", "", ""};
  return {kVersion, request.id, "200", "", verdict.user, ""};
}

}  // namespace skerry::broker
