#include "broker/connection_book.h"

namespace skerry::broker {

std::vector<int> ConnectionBook::OnAccepted(int descriptor, TimePoint now) {
  OnGone(descriptor);  // its end was not told
  ForgetOldArrivals(now);
  open_[descriptor] = {++last_number_, true};
  arrivals_.push_back({now, descriptor, last_number_});
  ++fresh_;
  std::vector<int> surplus;
  while (fresh_ > 0 && (fresh_ > bounds_.fresh || open_.size() > bounds_.connections)) {
    surplus.push_back(TakeOldestFresh());
  }
  return surplus;
}

void ConnectionBook::OnSpoke(int descriptor) {
  const auto found = open_.find(descriptor);
  if (found != open_.end()) Settle(found->second);
}

void ConnectionBook::OnGone(int descriptor) {
  const auto found = open_.find(descriptor);
  if (found == open_.end()) return;
  Settle(found->second);
  open_.erase(found);
}

ConnectionBook::Connection* ConnectionBook::FreshOne(const Arrival& arrival) {
  const auto found = open_.find(arrival.descriptor);
  const bool same = found != open_.end() && found->second.number == arrival.number;
  return same && found->second.fresh ? &found->second : nullptr;
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
