// One opaque payload frame: shared, never read by the broker beyond comparing bytes.
//
//   Payload copied("text");                            // one block: 8 bytes of books, then the text
//   Payload kept = Payload::Keep(std::move(message), [](const auto& m) { return m.to_string_view(); });
//
// A Payload is one pointer, since 100,000 queued jobs have two each.
//
// Ownership: copies share the bytes, or whatever was kept that holds them. Threads: immutable; the count is
// atomic.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace skerry::broker {

class Payload {
 public:
  Payload() = default;
  /// Of a copy of `bytes`, at most kMaxBytes.
  explicit Payload(std::string_view bytes);
  /// Of the bytes that `view` finds in `owner` once it lies where it stays.
  template <class Owner, class View>
  static Payload Keep(Owner owner, View view) {
    auto* kept = new Kept<Owner>(std::move(owner));
    kept->SetBytes(view(std::as_const(kept->owner)));
    return Payload(kept);
  }
  Payload(const Payload& other) : block_(other.block_) {
    if (block_ != nullptr) block_->holders.fetch_add(1, std::memory_order_relaxed);
  }
  Payload(Payload&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  Payload& operator=(Payload other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~Payload() {
    if (block_ != nullptr && block_->holders.fetch_sub(1, std::memory_order_acq_rel) == 1) Free(block_);
  }

  std::string_view bytes() const;
  std::size_t size() const { return block_ == nullptr ? 0 : block_->size; }
  /// The same of all that share the bytes; null of an empty one.
  const void* identity() const { return block_; }

  /// Above the largest frame of the wire.
  static constexpr std::size_t kMaxBytes = (std::size_t{1} << 31) - 1;

 private:
  struct Block {  // of a copy: its bytes lie behind it
    std::atomic<std::uint32_t> holders{1};
    std::uint32_t size : 31 = 0;
    std::uint32_t elsewhere : 1 = 0;
  };
  struct Elsewhere : Block {
    virtual ~Elsewhere() = default;
    void SetBytes(std::string_view bytes);
    const char* data = nullptr;
  };
  template <class Owner>
  struct Kept final : Elsewhere {
    explicit Kept(Owner&& kept) : owner(std::move(kept)) {}
    Owner owner;
  };

  explicit Payload(Block* block) : block_(block) {}
  static void Free(Block* block);

  Block* block_ = nullptr;
};

/// Of all of them together.
template <class Payloads>
std::uint64_t BytesOf(const Payloads& payloads) {
  std::uint64_t bytes = 0;
  for (const Payload& payload : payloads) bytes += payload.size();
  return bytes;
}

}  // namespace skerry::broker
