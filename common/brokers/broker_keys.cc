#include "common/brokers/broker_keys.h"

namespace skerry {

Status CheckBrokerKeys(const std::vector<std::string>& places, const std::string& key_file,
                       const std::string& broker_key, keys::Role role) {
  const auto parsed = ParseBrokerPlaces(places);
  if (!parsed) return Fail(parsed.error());
  for (const BrokerPlace& place : *parsed) {
    if (place.kind == BrokerPlace::Kind::kFile) continue;
    const auto keys = keys::LoadLinkKeys(LinkTo({place.text, place.key}, key_file, broker_key), role);
    if (!keys) return Fail(keys.error());
  }
  return {};
}

}  // namespace skerry
