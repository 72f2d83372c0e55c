#include "common/wire/stream.h"

#include "common/wire/codec.h"

namespace skerry::wire {
namespace {

// What has been consumed is cut off the buffer once it is this much, so that a long stream does not shift it
// for each small message.
constexpr std::size_t kCompactBytes = 64 * 1024;

void PutLittleEndian(char* to, std::size_t bytes, std::uint64_t value) {
  for (std::size_t i = 0; i < bytes; ++i) to[i] = static_cast<char>(value >> (8 * i));
}

std::size_t GetLittleEndian(const char* from, std::size_t bytes) {
  std::size_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i)
    value |= static_cast<std::size_t>(static_cast<unsigned char>(from[i])) << (8 * i);
  return value;
}

StreamSizes ReadSizes(const char* prefix) {
  StreamSizes sizes;
  sizes.payload_count = static_cast<unsigned char>(prefix[1]);
  sizes.header = GetLittleEndian(prefix + 2, 2);
  for (std::size_t i = 0; i < kMaxPayloads; ++i) sizes.payload[i] = GetLittleEndian(prefix + 4 + 4 * i, 4);
  return sizes;
}

}  // namespace

std::array<char, kStreamPrefixBytes> StreamPrefix(std::size_t header_bytes,
                                                  const std::vector<std::string_view>& payloads) {
  std::array<char, kStreamPrefixBytes> prefix{};
  prefix[0] = static_cast<char>(kStreamVersion);
  prefix[1] = static_cast<char>(payloads.size());
  PutLittleEndian(&prefix[2], 2, header_bytes);
  for (std::size_t i = 0; i < payloads.size() && i < kMaxPayloads; ++i) {
    PutLittleEndian(&prefix[4 + 4 * i], 4, payloads[i].size());
  }
  return prefix;
}

std::string StreamBytes(const Header& header, const std::vector<std::string_view>& payloads) {
  const std::string encoded = Encode(header);
  const auto prefix = StreamPrefix(encoded.size(), payloads);
  std::string bytes(prefix.data(), prefix.size());
  bytes += encoded;
  for (std::string_view payload : payloads) bytes += payload;
  return bytes;
}

Result<StreamSizes> ParseStreamPrefix(const char* prefix, std::size_t max_payload_bytes) {
  const auto version = static_cast<std::uint8_t>(prefix[0]);
  if (version != kStreamVersion) {
    return Fail(ErrorKind::kInvalid,
                "stream version " + std::to_string(version) + ", expected " + std::to_string(kStreamVersion));
  }
  const StreamSizes sizes = ReadSizes(prefix);
  if (sizes.payload_count > kMaxPayloads)
    return Fail(ErrorKind::kInvalid, "more payload frames than any message has");
  for (std::size_t i = 0; i < kMaxPayloads; ++i) {
    if (i >= sizes.payload_count && sizes.payload[i] != 0) {
      return Fail(ErrorKind::kInvalid, "a size for a payload frame that is not there");
    }
    if (sizes.payload[i] > max_payload_bytes) {
      return Fail(ErrorKind::kInvalid, "payload of " + std::to_string(sizes.payload[i]) + " bytes, at most " +
                                           std::to_string(max_payload_bytes) + " allowed");
    }
  }
  return sizes;
}

Result<std::optional<Frame>> FrameReader::Next() {
  if (buffered() < kStreamPrefixBytes) return std::optional<Frame>();
  const auto sizes = ParseStreamPrefix(buffer_.data() + start_, max_payload_bytes_);
  if (!sizes) return Fail(sizes.error());
  if (buffered() < sizes->Total()) return std::optional<Frame>();
  Frame frame;
  std::size_t at = start_ + kStreamPrefixBytes;
  frame.header = buffer_.substr(at, sizes->header);
  at += sizes->header;
  for (std::size_t i = 0; i < sizes->payload_count; ++i) {
    frame.payloads.push_back(buffer_.substr(at, sizes->payload[i]));
    at += sizes->payload[i];
  }
  start_ = at;
  if (start_ == buffer_.size() || start_ >= kCompactBytes) {
    buffer_.erase(0, start_);
    start_ = 0;
  }
  return std::optional<Frame>(std::move(frame));
}

std::size_t FrameReader::Missing() const {
  const std::size_t have = buffered();
  if (have < kStreamPrefixBytes) return kStreamPrefixBytes - have;
  const std::size_t total = ReadSizes(buffer_.data() + start_).Total();
  return total > have ? total - have : 1;
}

}  // namespace skerry::wire
