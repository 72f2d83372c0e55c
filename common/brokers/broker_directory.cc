#include "common/brokers/broker_directory.h"

#include <algorithm>
#include <utility>

namespace skerry {
namespace {

using Kind = BrokerPlace::Kind;

std::optional<BrokerDirectory::Lookup> LookupOf(const BrokerPlace& place) {
  if (place.kind == Kind::kName) return BrokerDirectory::Lookup{Kind::kName, place.host};
  if (place.kind == Kind::kFile) return BrokerDirectory::Lookup{Kind::kFile, place.path};
  return std::nullopt;
}

}  // namespace

BrokerDirectory::BrokerDirectory(std::vector<BrokerPlace> places, Options options, TimePoint now)
    : places_(std::move(places)), options_(options) {
  Refresh(now);
}

void BrokerDirectory::Want(const Lookup& lookup, TimePoint now) {
  const auto [entry, is_new] = entries_.try_emplace(lookup);
  if (is_new) entry->second.due = now;
}

std::vector<BrokerDirectory::Lookup> BrokerDirectory::Due(TimePoint now) {
  std::vector<Lookup> due;
  for (auto& [lookup, entry] : entries_) {
    if (entry.under_way || entry.due > now) continue;
    entry.under_way = true;
    due.push_back(lookup);
  }
  return due;
}

TimePoint BrokerDirectory::NextDue() const {
  TimePoint next = TimePoint::max();
  for (const auto& [lookup, entry] : entries_) {
    if (!entry.under_way) next = std::min(next, entry.due);
  }
  return next;
}

bool BrokerDirectory::complete() const {
  return std::all_of(entries_.begin(), entries_.end(), [](const auto& entry) { return entry.second.tried; });
}

void BrokerDirectory::Succeeded(Entry& entry, Millis again_in, TimePoint now) {
  entry.under_way = false;
  entry.tried = true;
  entry.retry = Millis(0);
  entry.fault.clear();
  entry.due = now + again_in;
}

void BrokerDirectory::Failed(const Lookup& lookup, Entry& entry, const std::string& why, TimePoint now) {
  entry.under_way = false;
  entry.tried = true;
  const Millis longest = lookup.kind == Kind::kFile ? options_.read_every : options_.resolve_every;
  entry.retry = std::min(entry.retry > Millis(0) ? entry.retry * 2 : options_.retry_after, longest);
  entry.due = now + entry.retry;
  std::string fault = (lookup.kind == Kind::kFile ? "file:" : "") + lookup.name + ": " + why;
  if (fault != entry.fault) faults_.push_back(fault);
  entry.fault = std::move(fault);
}

void BrokerDirectory::OnResolved(const std::string& host, const Result<std::vector<std::string>>& addresses,
                                 TimePoint now) {
  const auto found = entries_.find({Kind::kName, host});
  if (found == entries_.end()) return;  // the file that named it does so no more
  if (!addresses || addresses->empty()) {
    return Failed(found->first, found->second, addresses ? "has no address" : addresses.error().message, now);
  }
  Succeeded(found->second, options_.resolve_every, now);
  found->second.addresses = *addresses;
  // Resolvers turn the order round from query to query.
  std::sort(found->second.addresses.begin(), found->second.addresses.end());
  Refresh(now);
}

void BrokerDirectory::OnFile(const std::string& path, const Result<std::string>& text, TimePoint now) {
  const auto found = entries_.find({Kind::kFile, path});
  if (found == entries_.end()) return;
  if (!text) return Failed(found->first, found->second, text.error().message, now);
  auto places = ParseBrokerFile(*text);
  if (!places) return Failed(found->first, found->second, places.error().message, now);
  Succeeded(found->second, options_.read_every, now);
  found->second.places = std::move(*places);
  Refresh(now);
}

void BrokerDirectory::Add(const BrokerPlace& place, std::vector<BrokerAddress>& all) const {
  const auto add = [&](std::string endpoint) {
    // Of two that name one endpoint the first counts, with its key.
    if (std::none_of(all.begin(), all.end(), [&](const auto& known) { return known.endpoint == endpoint; }))
      all.push_back({std::move(endpoint), place.key});
  };
  if (place.kind == Kind::kEndpoint) return add(place.text);
  const auto entry = entries_.find(*LookupOf(place));
  if (entry == entries_.end()) return;
  for (const std::string& address : entry->second.addresses) add(TcpEndpoint(address, place.port));
  for (BrokerPlace inner : entry->second.places) {
    if (inner.key.empty()) inner.key = place.key;
    Add(inner, all);
  }
}

void BrokerDirectory::Refresh(TimePoint now) {
  std::set<Lookup> wanted;
  const auto want = [&](const BrokerPlace& place) {
    const auto lookup = LookupOf(place);
    if (!lookup) return;
    wanted.insert(*lookup);
    Want(*lookup, now);
  };
  for (const BrokerPlace& place : places_) {
    want(place);
    const auto lookup = LookupOf(place);
    if (!lookup) continue;
    // Its names may be new entries; a map's other entries stay where they are.
    for (const BrokerPlace& inner : entries_.at(*lookup).places) want(inner);
  }
  std::erase_if(entries_, [&](const auto& entry) { return !wanted.contains(entry.first); });
  std::vector<BrokerAddress> all;
  for (const BrokerPlace& place : places_) Add(place, all);
  if (all.size() > kMaxBrokers) {
    if (!std::exchange(too_many_, true)) {
      faults_.push_back("more than " + std::to_string(kMaxBrokers) + " brokers; " +
                        std::to_string(all.size() - kMaxBrokers) + " are left out");
    }
    all.resize(kMaxBrokers);
  } else {
    too_many_ = false;
  }
  addresses_ = std::move(all);
}

BrokerDirectory::Change BrokerDirectory::TakeChange() {
  Change change;
  const std::set<BrokerAddress> now(addresses_.begin(), addresses_.end());
  for (const BrokerAddress& address : addresses_) {
    if (!told_.contains(address)) change.added.push_back(address);
  }
  for (const BrokerAddress& address : told_) {
    if (!now.contains(address)) change.removed.push_back(address);
  }
  told_ = now;
  return change;
}

}  // namespace skerry
