// Messages over a stream socket, between a worker and an isolate: the same header and payloads as on ZeroMQ,
// behind a prefix that gives their sizes.
//
//   byte  0     kStreamVersion
//   byte  1     payload frames, 0 to 2
//   bytes 2-3   header size, little endian
//   bytes 4-7   first payload's size
//   bytes 8-11  second payload's size
//   then the header, then the payloads
//
// Errors: a FrameReader that has seen one malformed prefix stays failed: a stream has no way to
// resynchronise. Threads: one owner each. Memory: a reader holds at most one message's declared size, checked
// against its bound first.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "common/wire/messages.h"

namespace skerry::wire {

inline constexpr std::uint8_t kStreamVersion = 1;
inline constexpr std::size_t kStreamPrefixBytes = 12;

/// One message as bytes: an encoded header and its payload frames.
struct Frame {
  std::string header;
  std::vector<std::string> payloads;
};

/// What a prefix declares.
struct StreamSizes {
  std::size_t payload_count = 0;
  std::size_t header = 0;
  std::array<std::size_t, kMaxPayloads> payload{};
  std::size_t Total() const { return kStreamPrefixBytes + header + payload[0] + payload[1]; }
};

/// Reads and checks the kStreamPrefixBytes at `prefix`; a payload over `max_payload_bytes` is an error.
Result<StreamSizes> ParseStreamPrefix(const char* prefix, std::size_t max_payload_bytes);

/// The prefix for a message of these sizes. `payloads` has at most kMaxPayloads entries of less than 4 GiB.
std::array<char, kStreamPrefixBytes> StreamPrefix(std::size_t header_bytes,
                                                  const std::vector<std::string_view>& payloads);

/// Prefix, header and payloads in one buffer: for messages small enough to copy.
std::string StreamBytes(const Header& header, const std::vector<std::string_view>& payloads = {});

/// Cuts a byte stream into messages.
class FrameReader {
 public:
  /// `max_payload_bytes` bounds each payload frame; a prefix that declares more fails the stream.
  explicit FrameReader(std::size_t max_payload_bytes) : max_payload_bytes_(max_payload_bytes) {}

  void set_max_payload_bytes(std::size_t bytes) { max_payload_bytes_ = bytes; }

  /// Takes the bytes just read from the socket.
  void Append(std::string_view bytes) { buffer_.append(bytes); }
  /// The next whole message, nothing yet, or why the stream is broken.
  Result<std::optional<Frame>> Next();
  /// How many bytes are still missing of the message that has begun; at least 1. For blocking readers.
  std::size_t Missing() const;
  std::size_t buffered() const { return buffer_.size() - start_; }

 private:
  std::size_t max_payload_bytes_;
  std::string buffer_;
  std::size_t start_ = 0;  // of the first unread byte in buffer_
};

}  // namespace skerry::wire
