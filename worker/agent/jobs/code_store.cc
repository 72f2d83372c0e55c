#include "worker/agent/jobs/code_store.h"

namespace skerry::agent {
namespace {

// Of the list and the map, per code: so many empty programs must not be free.
constexpr std::size_t kOverhead = 256;

}  // namespace

Bytes CodeStore::SizeOf(const std::string& hash, const std::string& code) {
  return Bytes(hash.size() + code.size() + kOverhead);
}

void CodeStore::Keep(const std::string& hash, const std::string& code) {
  if (Find(hash) != nullptr) return;
  const Bytes size = SizeOf(hash, code);
  if (size > max_bytes_) return;
  while (bytes_ + size > max_bytes_) {
    const Entry& oldest = entries_.front();
    bytes_ = bytes_ - SizeOf(oldest.hash, oldest.code);
    by_hash_.erase(oldest.hash);
    entries_.pop_front();
  }
  bytes_ = bytes_ + size;
  by_hash_[hash] = entries_.insert(entries_.end(), {hash, code});
}

const std::string* CodeStore::Find(const std::string& hash) {
  const auto known = by_hash_.find(hash);
  if (known == by_hash_.end()) return nullptr;
  entries_.splice(entries_.end(), entries_, known->second);
  return &known->second->code;
}

}  // namespace skerry::agent
