// What is on its way to one client: sent and not confirmed, and waiting to be sent. Bounded in bytes, in
// order, and nothing of it lost or doubled when a link breaks.
//
//   waiting ──window open──> in flight ──PONG of a later PING──> (read: gone)
//      ^                         │
//      └────── a new link ───────┘   EVENTs and CALLs that it has not seen; FINALs come from the ledger again
//
// Every message has a number; the client drops those it has seen. A PING with a mark goes out behind what is
// in flight; its PONG says that all before it has been read, which opens the window again. Marks cannot be
// guessed: to answer one, a client has to read.
//
// Threads: the core's. Ownership: payloads are shared with the ledger and with ZeroMQ.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_set>
#include <vector>

#include "broker/jobs/payload.h"
#include "common/units.h"
#include "common/wire/messages.h"

namespace skerry::broker {

class ClientPipe {
 public:
  struct Message {
    wire::Header header;
    std::vector<Payload> payloads;
  };

  /// What a message counts against window and backlog.
  static std::uint64_t BytesOf(const std::vector<Payload>& payloads);

  /// Numbers an EVENT, CALL or FINAL and lets it wait. `final_number` is the ledger's for a FINAL that it
  /// keeps: ids come again, for another job or after a refusal, numbers do not.
  void Push(wire::Header header, std::vector<Payload> payloads, std::uint64_t final_number = 0);
  /// The next to send, while `window` bytes and ZeroMQ's queue have room; one always passes an empty flight.
  std::optional<Message> TakeNext(Bytes window);
  /// Whether enough has been sent since the last mark that the window would run dry without another.
  bool WantsMark(Bytes window) const;
  bool HasUnmarked() const { return !in_flight_.empty() && in_flight_.back().seq > last_marked_; }
  void Mark(std::uint64_t mark);
  /// The PONG of `mark`; an unknown one says nothing.
  void Confirm(std::uint64_t mark);
  /// A new link: what was in flight and is past `seen` waits again. FINALs are left out: whoever keeps them
  /// pushes them anew.
  void Relink(std::uint64_t seen);
  /// The PONGs of earlier marks may not have been listened to: what is in flight waits for another mark.
  void MarkAnew();
  void Clear();

  /// Whether that FINAL is still to be sent.
  bool HasFinal(std::uint64_t final_number) const { return finals_.contains(final_number); }
  bool empty() const { return waiting_.empty() && in_flight_.empty(); }
  std::size_t waiting() const { return waiting_.size(); }
  std::uint64_t waiting_bytes() const { return waiting_bytes_; }
  std::uint64_t in_flight_bytes() const { return in_flight_bytes_; }
  /// Of messages that nobody else keeps: everything but FINALs of the ledger.
  std::uint64_t own_bytes() const { return own_bytes_; }

 private:
  struct Entry {
    std::uint64_t seq = 0;
    std::uint64_t bytes = 0;
    bool final = false;
    std::uint64_t final_number = 0;
    Message message;  // in flight: empty where it is a FINAL
  };

  void Drop(const Entry& entry);

  std::deque<Entry> waiting_;
  std::deque<Entry> in_flight_;
  std::deque<std::pair<std::uint64_t, std::uint64_t>> marks_;  // mark, the last number before it
  std::unordered_set<std::uint64_t> finals_;
  std::uint64_t next_seq_ = 1;
  std::uint64_t last_marked_ = 0;
  std::uint64_t unmarked_bytes_ = 0;
  std::uint64_t waiting_bytes_ = 0;
  std::uint64_t in_flight_bytes_ = 0;
  std::uint64_t own_bytes_ = 0;
};

}  // namespace skerry::broker
