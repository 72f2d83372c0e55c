#include "broker/door/connection_book.h"

#include <utility>

namespace skerry::broker {

std::vector<int> ConnectionBook::OnAccepted(int descriptor, TimePoint now) {
  OnGone(descriptor);  // its end was not told
  ForgetOldArrivals(now);
  open_[descriptor] = {++last_number_, true, nullptr};
  arrivals_.push_back({now, descriptor, last_number_});
  ++fresh_;
  std::vector<int> surplus;
  while (fresh_ > 0 && (fresh_ > bounds_.fresh || open_.size() > bounds_.connections)) {
    surplus.push_back(TakeOldestFresh());
  }
  return surplus;
}

void ConnectionBook::OnSpoke(int descriptor, Proof who) {
  const auto found = open_.find(descriptor);
  if (found == open_.end()) return;
  Settle(found->second);
  found->second.who = std::move(who);
}

void ConnectionBook::OnGone(int descriptor) {
  const auto found = open_.find(descriptor);
  if (found == open_.end()) return;
  Settle(found->second);
  open_.erase(found);
}

std::vector<int> ConnectionBook::FreshOnes(TimePoint now) {
  ForgetOldArrivals(now);
  std::vector<int> fresh;
  for (const Arrival& arrival : arrivals_) {
    if (IsFresh(arrival)) fresh.push_back(arrival.descriptor);
  }
  return fresh;
}

std::vector<int> ConnectionBook::Unwelcome(const std::function<bool(const Identity&)>& allowed) const {
  std::vector<int> unwelcome;
  for (const auto& [descriptor, connection] : open_) {
    if (connection.who != nullptr && !allowed(*connection.who)) unwelcome.push_back(descriptor);
  }
  return unwelcome;
}

bool ConnectionBook::IsFresh(const Arrival& arrival) const {
  const auto found = open_.find(arrival.descriptor);
  return found != open_.end() && found->second.number == arrival.number && found->second.fresh;
}

ConnectionBook::Connection* ConnectionBook::FreshOne(const Arrival& arrival) {
  return IsFresh(arrival) ? &open_.find(arrival.descriptor)->second : nullptr;
}

void ConnectionBook::ForgetOldArrivals(TimePoint now) {
  while (!arrivals_.empty()) {
    Connection* connection = FreshOne(arrivals_.front());
    if (connection != nullptr && now - arrivals_.front().at < bounds_.handshake_time) return;
    if (connection != nullptr) Settle(*connection);
    arrivals_.pop_front();
  }
}

/// There is one.
int ConnectionBook::TakeOldestFresh() {
  while (FreshOne(arrivals_.front()) == nullptr) arrivals_.pop_front();
  const int descriptor = arrivals_.front().descriptor;
  arrivals_.pop_front();
  OnGone(descriptor);
  return descriptor;
}

void ConnectionBook::Settle(Connection& connection) {
  if (!connection.fresh) return;
  connection.fresh = false;
  --fresh_;
}

}  // namespace skerry::broker
