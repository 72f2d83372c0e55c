#include "clients/cli/admin/admin_places.h"

#include <set>
#include <utility>

#include "clients/cli/pool_folder.h"
#include "common/endpoint.h"

namespace skerry::cli {
namespace {

Result<std::string> TheOnePoolHere() {
  const auto found = RunningPools("admin");
  if (found.size() == 1) return found[0];
  std::string why = found.empty() ? "no pool of this user's runs here" : "several pools run here";
  for (const std::string& endpoint : found) why += (&endpoint == found.data() ? ": " : ", ") + endpoint;
  return Fail(ErrorKind::kInvalid, why + "; name a broker: --admin ENDPOINT, as in its setting `admin`");
}

/// Who listens on this machine may do so at one of its two addresses only.
bool IsOne(const BrokerPlace& place) {
  return place.kind != BrokerPlace::Kind::kName || ReachOf(place.text) == Reach::kLoopback;
}

}  // namespace

Status CheckAdminPlace(std::string_view text) {
  const auto place = ParseBrokerPlace(text);
  if (!place) return Fail(place.error());
  if (place->kind == BrokerPlace::Kind::kFile)
    return Fail(ErrorKind::kInvalid,
                "an admin socket must be ipc://PATH or tcp://HOST:PORT, not a file of such");
  return CheckEndpoint(place->text);
}

Result<AdminAddresses> AddressesOf(const std::vector<std::string>& places, const ResolveHost& resolve) {
  std::vector<std::string> texts = places;
  if (texts.empty()) {
    auto here = TheOnePoolHere();
    if (!here) return Fail(here.error());
    texts = {*std::move(here)};
  }
  AdminAddresses all;
  std::set<std::string> seen;  // one broker twice would count twice
  const auto add = [&](std::string endpoint, const std::string& key) {
    if (all.known.size() < kMaxBrokers && seen.insert(endpoint).second)
      all.known.push_back({std::move(endpoint), key});
  };
  for (const std::string& text : texts) {
    if (auto good = CheckAdminPlace(text); !good) return Fail(good.error());
    const auto place = ParseBrokerPlace(text);
    if (IsOne(*place)) {
      add(place->text, place->key);
      continue;
    }
    auto addresses = resolve(place->host);
    if (!addresses || addresses->empty()) {
      all.unknown.push_back(
          {place->text,
           {ErrorKind::kUnavailable,
            place->text + ": " + (addresses ? "the name has no address" : addresses.error().message)}});
      continue;
    }
    if (addresses->size() > 1) all.lead = AdminAddresses::Lead::kMaybeToOne;
    for (const std::string& address : *addresses) add(TcpEndpoint(address, place->port), place->key);
  }
  return all;
}

}  // namespace skerry::cli
