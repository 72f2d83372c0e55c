// Which keys go with which broker: its own, written behind its place, or the one that is set for all.
//
// Threads: any. Errors: as keys::LoadLinkKeys, for each place that has one.
#pragma once

#include <string>
#include <vector>

#include "common/brokers/broker_place.h"
#include "common/keys/link_keys.h"

namespace skerry {

inline keys::LinkSettings LinkTo(const BrokerAddress& address, const std::string& key_file,
                                 const std::string& broker_key) {
  return {address.endpoint, key_file, address.key.empty() ? broker_key : address.key};
}

/// Before anything is resolved or read: whether the places can be parsed, and the keys fit them. What a file
/// names is checked once it is known. The tenant in our own key's file, where keys are used and it has one.
Result<std::string> CheckBrokerKeys(const std::vector<std::string>& places, const std::string& key_file,
                                    const std::string& broker_key, keys::Role role);

}  // namespace skerry
