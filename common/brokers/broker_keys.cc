#include "common/brokers/broker_keys.h"

namespace skerry {

Result<std::string> CheckBrokerKeys(const std::vector<std::string>& places, const std::string& key_file,
                                    const std::string& broker_key, keys::Role role) {
  const auto parsed = ParseBrokerPlaces(places);
  if (!parsed) return Fail(parsed.error());
  std::string tenant;
  for (const BrokerPlace& place : *parsed) {
    if (place.kind == BrokerPlace::Kind::kFile) {
      if (key_file.empty()) continue;
      const auto own = keys::ReadKeyFile(key_file, role);
      if (!own) return Fail(ErrorKind::kInvalid, "key: " + own.error().message);
      tenant = own->tenant;
      continue;
    }
    const auto keys = keys::LoadLinkKeys(LinkTo({place.text, place.key}, key_file, broker_key), role);
    if (!keys) return Fail(keys.error());
    if (*keys) tenant = (*keys)->own.tenant;
  }
  return tenant;
}

}  // namespace skerry
