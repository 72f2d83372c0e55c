// The connections of one socket, by what libzmq tells of them: how many have not finished their handshake,
// and which must go so that those who say nothing never use up what others need.
//
// A connection is *fresh* from its acceptance until it says HELLO, at most for the handshake's time: libzmq
// itself ends the handshakes that take longer.
//
// Threads: one. Memory: an entry per open connection. Errors: events that fit to nothing are ignored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "broker/identity.h"
#include "common/units.h"

namespace skerry::broker {

struct ConnectionBounds {
  std::size_t fresh = 1024;        ///< past it the oldest fresh one goes
  std::size_t connections = 8192;  ///< past it the oldest fresh one goes, or the new one
  Millis handshake_time{5'000};
};

class ConnectionBook {
 public:
  explicit ConnectionBook(ConnectionBounds bounds) : bounds_(bounds) {}

  /// The descriptors of the connections to be closed for it; they are out of the books.
  std::vector<int> OnAccepted(int descriptor, TimePoint now);
  /// It has finished its handshake, and proved to be that.
  void OnSpoke(int descriptor, Proof who);
  void OnGone(int descriptor);

  /// Those that have not finished it, and still have time to.
  std::vector<int> FreshOnes(TimePoint now);
  /// Those whose key `allowed` says no to.
  std::vector<int> Unwelcome(const std::function<bool(const Identity&)>& allowed) const;

  bool Knows(int descriptor) const { return open_.contains(descriptor); }
  std::size_t connections() const { return open_.size(); }
  std::size_t fresh() const { return fresh_; }

 private:
  struct Connection {
    std::uint64_t number = 0;  // descriptors are used again, numbers are not
    bool fresh = true;
    Proof who = nullptr;
  };
  struct Arrival {
    TimePoint at;
    int descriptor = -1;
    std::uint64_t number = 0;
  };

  /// Its connection while that is still open and fresh, or null.
  Connection* FreshOne(const Arrival& arrival);
  bool IsFresh(const Arrival& arrival) const;
  void ForgetOldArrivals(TimePoint now);
  int TakeOldestFresh();
  void Settle(Connection& connection);

  const ConnectionBounds bounds_;
  std::unordered_map<int, Connection> open_;
  std::deque<Arrival> arrivals_;
  std::size_t fresh_ = 0;
  std::uint64_t last_number_ = 0;
};

}  // namespace skerry::broker
