// The worker's end of an isolate's socket: messages in, bytes out, never blocking.
//
// Threads: the event loop's. Ownership: borrows the descriptor; views handed to Send must live until it is
// Flushed. Errors: a broken stream (framing) is Result's Error and means that the isolate broke the protocol.
// A peer that has gone is no error: reading says so, and writes to it vanish.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "common/result.h"
#include "common/wire/messages.h"
#include "common/wire/stream.h"

namespace skerry::agent {

class IsolatePort {
 public:
  IsolatePort(int socket, std::size_t max_frame_bytes) : socket_(socket), reader_(max_frame_bytes) {}

  enum class ReadEnd : std::uint8_t {
    kEmpty,   ///< nothing more for now
    kBudget,  ///< the budget is used up; there may be more
    kEof,     ///< the peer's end is closed
  };
  /// Takes at most `budget` bytes from the socket.
  ReadEnd Read(std::size_t budget);
  /// The next whole message among the bytes read.
  Result<std::optional<wire::Frame>> Next() { return reader_.Next(); }

  /// Queues a message. `payloads` are copied unless they are large, and then must stay where they are.
  void Send(const wire::Header& header, const std::vector<std::string_view>& payloads);
  /// As Send, but takes over one payload.
  void SendOwned(const wire::Header& header, std::string payload);

  /// Nothing has come that was not taken.
  bool AllTaken() const { return reader_.buffered() == 0; }
  bool AllWritten() const { return out_.empty(); }

  enum class WriteEnd : std::uint8_t { kFlushed, kBlocked, kPeerGone };
  /// Writes what is queued, as far as the socket takes it.
  WriteEnd Flush();

 private:
  struct Chunk {
    std::string owned;
    std::string_view borrowed;  // used when not empty
    std::string_view bytes() const { return borrowed.empty() ? std::string_view(owned) : borrowed; }
  };

  int socket_;
  wire::FrameReader reader_;
  std::deque<Chunk> out_;
  std::size_t written_ = 0;  // of out_.front()
};

}  // namespace skerry::agent
