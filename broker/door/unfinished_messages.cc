#include "broker/door/unfinished_messages.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace skerry::broker {

void UnfinishedMessages::OnOpened(int descriptor) {
  open_[descriptor] = {};
}

void UnfinishedMessages::OnDelivered(int descriptor) {
  const auto found = open_.find(descriptor);
  if (found == open_.end()) return;
  found->second.delivered = true;
  found->second.held = Bytes();
}

void UnfinishedMessages::OnProved(int descriptor, std::string owner) {
  const auto found = open_.find(descriptor);
  if (found != open_.end()) found->second.owner = std::move(owner);
}

void UnfinishedMessages::OnGone(int descriptor) {
  open_.erase(descriptor);
}

std::vector<UnfinishedMessages::Surplus> UnfinishedMessages::Look(Among among, const Read& read) {
  std::vector<Surplus> surplus;
  std::vector<int> too_large;
  busy_ = false;
  for (auto& [descriptor, connection] : open_) {
    if (among == Among::kBusy && !connection.busy) continue;
    const auto bytes = read(descriptor);
    if (!bytes) continue;  // its end has yet to be told
    Count(connection, *bytes);
    busy_ |= connection.busy;
    if (connection.held > bounds_.connection) too_large.push_back(descriptor);
  }
  for (const int descriptor : too_large) surplus.push_back(TakeOut(descriptor));
  for (Bytes together = Together(); together > bounds_.together; together -= surplus.back().held) {
    surplus.push_back(TakeOut(LargestOfTheGreediest()));
  }
  return surplus;
}

void UnfinishedMessages::Count(Connection& connection, std::uint64_t read) const {
  // Fewer than before: the descriptor is another connection's by now.
  if (read < connection.last) connection = Connection();
  const Bytes fresh(read - connection.last);
  if (connection.delivered) {
    connection.delivered = false;
    connection.base = read;
  } else if (ends_ > connection.ends) {
    // Not what was read since the last look: that may be whole messages, which nobody has asked for yet.
    connection.held = Bytes(connection.last - connection.base);
  }
  connection.last = read;
  connection.ends = ends_;
  connection.busy = std::max(fresh, Bytes(read - connection.base)) >= kBusyFrom;
}

Bytes UnfinishedMessages::Together() const {
  Bytes together;
  for (const auto& [descriptor, connection] : open_) together += connection.held;
  return together;
}

/// There is one that holds something. By owner, so that who splits what he holds over many connections does
/// not have others' go.
int UnfinishedMessages::LargestOfTheGreediest() const {
  struct Holding {
    Bytes together, largest;
    int descriptor = -1;
  };
  std::unordered_map<std::string_view, Holding> owners;
  const Holding* greediest = nullptr;
  for (const auto& [descriptor, connection] : open_) {
    Holding& holding = owners[connection.owner];
    holding.together += connection.held;
    if (holding.descriptor < 0 || connection.held > holding.largest) {
      holding.largest = connection.held;
      holding.descriptor = descriptor;
    }
  }
  for (const auto& [owner, holding] : owners) {
    if (greediest == nullptr || holding.together > greediest->together) greediest = &holding;
  }
  return greediest->descriptor;
}

UnfinishedMessages::Surplus UnfinishedMessages::TakeOut(int descriptor) {
  auto taken = open_.extract(descriptor);
  Connection& connection = taken.mapped();
  return {descriptor, connection.held, std::move(connection.owner)};
}

}  // namespace skerry::broker
