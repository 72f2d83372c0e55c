// What the connections of one socket hold of messages whose end has not come. libzmq bounds each frame and
// the number of whole messages, not what a message without an end adds up to.
//
// Nothing is delivered from a connection while it has an unfinished message. So: what has been read from it
// since the last look after which a message of it was delivered, up to a look after which the socket was read
// to its end, is all of one unfinished message. The count begins anew with each message: nothing adds up over
// a connection's life.
//
// Threads: one. Memory: an entry per open connection. Errors: connections that are unknown are ignored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/units.h"

namespace skerry::broker {

struct UnfinishedBounds {
  Bytes connection;  ///< past it the connection goes
  Bytes together;    ///< past it goes the largest of who holds most
};

class UnfinishedMessages {
 public:
  /// How many bytes have been read from a connection, ever; nothing: it has none.
  using Read = std::function<std::optional<std::uint64_t>(int descriptor)>;
  /// Among what to look: connections by which this much has come since the look before, or is held, are
  /// *busy*, and worth a look sooner.
  enum class Among : bool { kAll, kBusy };
  static constexpr Bytes kBusyFrom = Bytes::MiB(1);

  struct Surplus {
    int descriptor = -1;
    Bytes held;
    std::string owner;  ///< empty: it has not proved whose it is
  };

  explicit UnfinishedMessages(UnfinishedBounds bounds) : bounds_(bounds) {}

  void OnOpened(int descriptor);
  /// A whole message of it was delivered.
  void OnDelivered(int descriptor);
  void OnProved(int descriptor, std::string owner);
  void OnGone(int descriptor);
  /// There was no message left to deliver, on the whole socket.
  void OnReadToEnd() { ++ends_; }

  /// Those that must go; they are out of the books.
  std::vector<Surplus> Look(Among among, const Read& read);

  bool empty() const { return open_.empty(); }
  /// Whether a look among the busy ones is worth its while.
  bool busy() const { return busy_; }

 private:
  struct Connection {
    std::uint64_t base = 0;  // read at the look after the last delivery
    std::uint64_t last = 0;  // read at the last look
    std::uint64_t ends = 0;  // ends_ at the last look
    bool delivered = true;   // since the last look
    bool busy = false;
    Bytes held;
    std::string owner;
  };

  void Count(Connection& connection, std::uint64_t read) const;
  Bytes Together() const;
  int LargestOfTheGreediest() const;
  Surplus TakeOut(int descriptor);

  const UnfinishedBounds bounds_;
  std::unordered_map<int, Connection> open_;
  std::uint64_t ends_ = 0;
  bool busy_ = false;
};

}  // namespace skerry::broker
