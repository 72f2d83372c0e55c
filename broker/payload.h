// One opaque payload frame: shared, never copied, never read by the broker beyond comparing bytes.
//
//   Payload owned(std::string("text"));
//   Payload frame(message, std::string_view(message->data<char>(), message->size()));   // a received frame
//
// Ownership: `owner` keeps the bytes alive; copies of a Payload share it. Threads: immutable; the count is
// atomic.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace skerry::broker {

class Payload {
 public:
  Payload() = default;
  explicit Payload(std::string text) {
    auto owned = std::make_shared<const std::string>(std::move(text));
    bytes_ = *owned;
    owner_ = std::move(owned);
  }
  Payload(std::shared_ptr<const void> owner, std::string_view bytes)
      : owner_(std::move(owner)), bytes_(bytes) {}

  std::string_view bytes() const { return bytes_; }
  std::size_t size() const { return bytes_.size(); }
  const std::shared_ptr<const void>& owner() const { return owner_; }

 private:
  std::shared_ptr<const void> owner_;
  std::string_view bytes_;
};

/// Of all of them together.
inline std::uint64_t BytesOf(const std::vector<Payload>& payloads) {
  std::uint64_t bytes = 0;
  for (const Payload& payload : payloads) bytes += payload.size();
  return bytes;
}

}  // namespace skerry::broker
