// Memory for small ArrayBuffers that goes back to the kernel when they are collected.
//
// glibc keeps what lies between blocks that still live, and that counts against the job's RLIMIT_DATA: a
// program that let go of 40 MiB of small buffers could not use them for its heap. Here blocks of a size share
// slabs of 256 KiB, and a slab without a live block is unmapped.
//
// Threads: one. Ownership: blocks are freed one by one; slabs that still hold some live until the process
// ends. Errors: null where the kernel refuses (ENOMEM).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace skerry::engine {

class BufferSlabs {
 public:
  static constexpr std::size_t kSlabBytes = 256u << 10;
  /// Larger blocks are not for slabs: glibc maps them one by one (v8_start.cc).
  static constexpr std::size_t kMaxBlockBytes = 65'504;

  BufferSlabs() = default;
  BufferSlabs(const BufferSlabs&) = delete;
  BufferSlabs& operator=(const BufferSlabs&) = delete;

  enum class Content : bool { kUninitialized, kZero };
  /// A block of at least `size` bytes (at most kMaxBlockBytes), aligned to 16.
  void* Allocate(std::size_t size, Content content);
  /// A block that Allocate gave.
  void Free(void* block);

  std::size_t slabs() const { return slabs_; }

 private:
  static constexpr std::size_t kClasses = 26;
  struct Slab;

  static std::size_t ClassOf(std::size_t size);
  Slab* MakeSlab(std::size_t size_class);
  void Link(Slab* slab);
  void Unlink(Slab* slab);

  std::array<Slab*, kClasses> open_{};  ///< by class: slabs with room, most recently used first
  std::size_t slabs_ = 0;
};

}  // namespace skerry::engine
