// Which brokers operators' commands ask: of setting `admin`, else the one pool that runs here.
//
// A name stands for every address that it has (`localhost` for one), as it does to workers and clients.
//
// Threads: one; a lookup that hangs is left to end by itself. Errors: places that are none; a name that
// cannot be resolved is a broker that is away.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "clients/cli/admin/pool_sample.h"
#include "common/brokers/broker_place.h"
#include "common/result.h"

namespace skerry::cli {

/// Which brokers to ask, and by which keys.
struct AdminPlaces {
  std::vector<std::string> brokers;  ///< endpoints; none: the one pool of this user's that runs here
  std::string key_file;              ///< of role admin, for endpoints at tcp://
  std::string broker_key;            ///< the public key of brokers that have none behind their endpoint
};

/// Whether it is an endpoint, with or without its broker's key behind it.
Status CheckAdminPlace(std::string_view text);

struct AdminAddresses {
  /// Whether all lead to brokers of their own, or some to one: the addresses of a name may.
  enum class Lead : std::uint8_t { kApart, kMaybeToOne };
  std::vector<BrokerAddress> known;
  std::vector<Away> unknown;
  Lead lead = Lead::kApart;
};

using ResolveHost = std::function<Result<std::vector<std::string>>(const std::string& host)>;

/// Each once.
Result<AdminAddresses> AddressesOf(const std::vector<std::string>& places, const ResolveHost& resolve);

}  // namespace skerry::cli
