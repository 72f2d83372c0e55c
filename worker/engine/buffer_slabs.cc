#include "worker/engine/buffer_slabs.h"

#include <sys/mman.h>

#include <cstring>
#include <new>

namespace skerry::engine {

namespace {

constexpr std::size_t kHeaderBytes = 64;

// Blocks per slab, by class, so that a block of more than 32 bytes is at most twice as large as what is asked
// for.
constexpr std::array<std::uint16_t, 26> kBlocksPerSlab = {4,   5,   6,   7,    8,    10,   12,   16,   20,
                                                          24,  32,  40,  48,   64,   96,   128,  192,  256,
                                                          384, 512, 768, 1024, 2048, 4096, 8192, 16320};

/// Bytes of a block, by class, largest first.
constexpr auto kBlockBytes = [] {
  std::array<std::size_t, kBlocksPerSlab.size()> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = (BufferSlabs::kSlabBytes - kHeaderBytes) / kBlocksPerSlab[i] / 16 * 16;
  }
  return bytes;
}();
static_assert(kBlockBytes.front() >= BufferSlabs::kMaxBlockBytes && kBlockBytes.back() == 16);

}  // namespace

/// At the beginning of its memory, which is aligned to its size: a block's slab is found from its address.
struct alignas(64) BufferSlabs::Slab {
  Slab* next = nullptr;
  Slab* previous = nullptr;
  void* freed = nullptr;  ///< blocks that lived before, each holding the address of the next
  std::uint16_t size_class = 0;
  std::uint32_t live = 0;
  std::uint32_t untouched = 0;  ///< index of the first block that never lived: it is still zero

  bool full() const { return freed == nullptr && untouched == kBlocksPerSlab[size_class]; }
};

static_assert(kBlockBytes.front() * kBlocksPerSlab.front() + kHeaderBytes <= BufferSlabs::kSlabBytes);

std::size_t BufferSlabs::ClassOf(std::size_t size) {
  static_assert(sizeof(Slab) == kHeaderBytes && kBlockBytes.size() == kClasses);
  std::size_t size_class = 0;
  while (size_class + 1 < kClasses && kBlockBytes[size_class + 1] >= size) ++size_class;
  return size_class;
}

void* BufferSlabs::Allocate(std::size_t size, Content content) {
  const std::size_t size_class = ClassOf(size);
  Slab* slab = open_[size_class];
  if (slab == nullptr) slab = MakeSlab(size_class);
  if (slab == nullptr) return nullptr;
  void* block = slab->freed;
  if (block != nullptr) {
    std::memcpy(&slab->freed, block, sizeof(void*));
    if (content == Content::kZero) std::memset(block, 0, size);
  } else {
    block = reinterpret_cast<char*>(slab + 1) + slab->untouched++ * kBlockBytes[size_class];
  }
  ++slab->live;
  if (slab->full()) Unlink(slab);
  return block;
}

void BufferSlabs::Free(void* block) {
  auto* const slab = reinterpret_cast<Slab*>(reinterpret_cast<std::uintptr_t>(block) & ~(kSlabBytes - 1));
  if (slab->full()) Link(slab);
  if (--slab->live == 0) {
    Unlink(slab);
    ::munmap(slab, kSlabBytes);
    --slabs_;
    return;
  }
  std::memcpy(block, &slab->freed, sizeof(void*));
  slab->freed = block;
}

BufferSlabs::Slab* BufferSlabs::MakeSlab(std::size_t size_class) {
  // Twice the size, and what is not needed for the alignment goes back. Reserved first, so that only the slab
  // counts.
  void* const reserved = ::mmap(nullptr, 2 * kSlabBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (reserved == MAP_FAILED) return nullptr;
  char* const from = static_cast<char*>(reserved);
  const std::size_t skip = (kSlabBytes - reinterpret_cast<std::uintptr_t>(from) % kSlabBytes) % kSlabBytes;
  if (skip > 0) ::munmap(from, skip);
  ::munmap(from + skip + kSlabBytes, kSlabBytes - skip);
  if (::mprotect(from + skip, kSlabBytes, PROT_READ | PROT_WRITE) != 0) {
    ::munmap(from + skip, kSlabBytes);
    return nullptr;
  }
  auto* const slab = new (from + skip) Slab;
  slab->size_class = static_cast<std::uint16_t>(size_class);
  Link(slab);
  ++slabs_;
  return slab;
}

void BufferSlabs::Link(Slab* slab) {
  Slab*& first = open_[slab->size_class];
  slab->previous = nullptr;
  slab->next = first;
  if (first != nullptr) first->previous = slab;
  first = slab;
}

void BufferSlabs::Unlink(Slab* slab) {
  (slab->previous != nullptr ? slab->previous->next : open_[slab->size_class]) = slab->next;
  if (slab->next != nullptr) slab->next->previous = slab->previous;
  slab->next = slab->previous = nullptr;
}

}  // namespace skerry::engine
