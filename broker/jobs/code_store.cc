#include "broker/jobs/code_store.h"

#include "common/hash.h"

namespace skerry::broker {
namespace {

/// Ids hold no control characters: the NUL keeps the tenant's name and the hash apart.
std::string NameOf(const TenantId& tenant, std::string_view hash) {
  return (tenant.str() + '\0').append(hash);
}

}  // namespace

const Payload* CodeStore::Find(const std::string& name) {
  const auto found = places_.find(name);
  if (found == places_.end()) return nullptr;
  order_.splice(order_.end(), order_, found->second);
  return &found->second->code;
}

CodeFound CodeStore::Resolve(const TenantId& tenant, std::string_view hash, Payload& code) {
  const Payload* kept = Find(NameOf(tenant, hash));
  if (code.size() == 0 && !IsHashOfNothing(hash)) {
    if (kept == nullptr) return CodeFound::kNeeded;
    code = *kept;
    return CodeFound::kKept;
  }
  if (kept == nullptr) return Sha256(code.bytes()) == hash ? CodeFound::kSent : CodeFound::kWrong;
  if (kept->bytes() != code.bytes()) return CodeFound::kWrong;
  code = *kept;
  return CodeFound::kSent;
}

std::uint64_t CodeStore::Keep(const TenantId& tenant, std::string_view hash, const Payload& code) {
  Entry entry{NameOf(tenant, hash), code};
  if (entry.bytes() > most_.count() || places_.contains(entry.name)) return 0;
  bytes_ += entry.bytes();
  const auto place = order_.insert(order_.end(), std::move(entry));
  places_.emplace(place->name, place);
  std::uint64_t gone = 0;
  for (; bytes_ > most_.count(); ++gone) {
    bytes_ -= order_.front().bytes();
    places_.erase(order_.front().name);
    order_.pop_front();
  }
  return gone;
}

}  // namespace skerry::broker
