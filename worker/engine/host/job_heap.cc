#include "worker/engine/host/job_heap.h"

#include <sys/mman.h>

#include <bit>

namespace skerry::engine {
namespace {

constexpr std::size_t kAlignment = 16;
// In front of each block, and keeps it aligned: its size class.
constexpr std::size_t kHeaderBytes = kAlignment;
// Classes are 16 bytes apart up to here, then four to each doubling.
constexpr std::size_t kFineBytes = 1024;
constexpr std::size_t kFineClasses = kFineBytes / kAlignment;
constexpr int kFineBits = 10;

constexpr std::size_t ClassOf(std::size_t size) {
  if (size <= kAlignment) return 0;
  if (size <= kFineBytes) return (size - 1) / kAlignment;
  const int doubling = std::bit_width(size - 1) - 1;  // size is in (2^doubling, 2^(doubling + 1)]
  const std::size_t quarter = (size - 1 - (std::size_t{1} << doubling)) >> (doubling - 2);
  return kFineClasses + static_cast<std::size_t>(doubling - kFineBits) * 4 + quarter;
}

constexpr std::size_t BytesOf(std::size_t size_class) {
  if (size_class < kFineClasses) return (size_class + 1) * kAlignment;
  const std::size_t coarse = size_class - kFineClasses;
  const std::size_t base = kFineBytes << (coarse / 4);
  return base + (coarse % 4 + 1) * (base / 4);
}

static_assert(BytesOf(ClassOf(kFineBytes)) == kFineBytes);
static_assert(BytesOf(ClassOf(kFineBytes + 1)) == kFineBytes + kFineBytes / 4);
static_assert(BytesOf(ClassOf(JobHeap::kMaxBlockBytes)) == JobHeap::kMaxBlockBytes);

std::size_t& ClassIn(void* block) {
  return *reinterpret_cast<std::size_t*>(static_cast<char*>(block) - kHeaderBytes);
}

}  // namespace

bool JobHeap::Reserve() {
  static_assert(ClassOf(kMaxBlockBytes) + 1 == kClasses);
  if (begin_ != 0) return true;
  void* const region = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (region == MAP_FAILED) return false;
  begin_ = next_ = reinterpret_cast<std::uintptr_t>(region);
  end_ = begin_ + kBytes;
  return true;
}

void JobHeap::Open(const void* inherited_end) {
  inherited_end_ = reinterpret_cast<std::uintptr_t>(inherited_end);
  open_ = begin_ != 0;
}

void* JobHeap::Allocate(std::size_t size) {
  if (!open_ || size > kMaxBlockBytes) return nullptr;
  const std::size_t size_class = ClassOf(size);
  if (FreeBlock* const block = free_[size_class]) {
    free_[size_class] = block->next;
    return block;
  }
  const std::size_t needed = kHeaderBytes + BytesOf(size_class);
  if (untouched() < needed) return nullptr;
  void* const block = reinterpret_cast<void*>(next_ + kHeaderBytes);
  next_ += needed;
  ClassIn(block) = size_class;
  return block;
}

void JobHeap::Free(void* block) {
  auto* const free = static_cast<FreeBlock*>(block);
  const std::size_t size_class = ClassIn(block);
  free->next = free_[size_class];
  free_[size_class] = free;
}

std::size_t JobHeap::SizeOf(const void* block) {
  return BytesOf(ClassIn(const_cast<void*>(block)));
}

}  // namespace skerry::engine
