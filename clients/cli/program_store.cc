#include "clients/cli/program_store.h"

#include <utility>

namespace skerry::cli {

ProgramStore::Order::iterator ProgramStore::Refreshed(const std::string& hash) {
  const auto found = by_hash_.find(hash);
  if (found == by_hash_.end()) return order_.end();
  order_.splice(order_.begin(), order_, found->second);
  return found->second;
}

void ProgramStore::Keep(std::shared_ptr<const Program> program) {
  if (Refreshed(program->hash()) != order_.end()) return;
  bytes_ += Bytes(program->text().size());
  order_.push_front(std::move(program));
  by_hash_[order_.front()->hash()] = order_.begin();
  while (bytes_ > most_ && order_.size() > 1) {
    bytes_ -= Bytes(order_.back()->text().size());
    by_hash_.erase(order_.back()->hash());
    order_.pop_back();
  }
}

std::shared_ptr<const Program> ProgramStore::Find(const std::string& hash) {
  const auto found = Refreshed(hash);
  return found == order_.end() ? nullptr : *found;
}

}  // namespace skerry::cli
