#include "worker/engine/memory_budget.h"

#include <v8-statistics.h>

#include <algorithm>
#include <cstdlib>

#include "worker/engine/host/memory_guard.h"

namespace skerry::engine {
namespace {

// A look at the heap costs about a microsecond, so small buffers are counted on credit, this much at a time.
constexpr std::size_t kHeadroomStep = 256u << 10;
// How far the heap's limit may lag behind what buffers have taken.
constexpr std::size_t kLimitStep = 1u << 20;
// V8's limit is on pages, the budget on what they hold: with odd object sizes a fifth of a page stays empty,
// and V8's tables outside the heap come on top. A job that is within its budget is lent most of the margin
// that RLIMIT_DATA has; the rest is for the young generation and for pages that have been freed but not given
// back yet.
constexpr std::size_t kReservedOfMargin = 6u << 20;
constexpr std::size_t kFragmentationSlack = (kDataMarginMb << 20) - kReservedOfMargin;

// V8 pools the pages that a collection frees until the one after it. Where that is this much, and the budget
// is half used up, another collection of what little is left costs less than an allocation that fails for
// want of them.
constexpr std::size_t kPoolWorthReleasing = 16u << 20;

// A dropped context is some 300 KiB of garbage. A collection is 3 to 5 ms: at this size it comes every
// twentieth trivial job or so, and what a later job finds in its heap stays below what its worker allows
// (kMaxLeftovers of worker/agent/isolates/isolate_keeper.h).
constexpr std::size_t kLeftoversWorthCollecting = 8u << 20;

}  // namespace

void MemoryBudget::Attach(v8::Isolate* isolate) {
  isolate_ = isolate;
  isolate->AddGCPrologueCallback(BeforeCollection, this);
  isolate->AddGCEpilogueCallback(AfterCollection, this);
  isolate->AddNearHeapLimitCallback(NearHeapLimit, this);
}

void MemoryBudget::Arm(Bytes budget) {
  const std::size_t held = HeapBytes();
  if (!armed_) base_ = held;
  leftovers_ = held - std::min(held, base_);
  refused_ = collected_all_ = false;
  ceiling_ = held + external_ + budget.count();
  heap_peak_ = 0;
  armed_ = true;
  headroom_ = 0;
  FollowWithHeapLimit();
}

void MemoryBudget::CollectLeftovers() {
  const std::size_t held = HeapBytes() + external_;
  if (held < base_ + kLeftoversWorthCollecting) return;
  isolate_->MemoryPressureNotification(v8::MemoryPressureLevel::kCritical);
  isolate_->MemoryPressureNotification(v8::MemoryPressureLevel::kNone);
}

std::uint64_t MemoryBudget::HeapPeakBytes() {
  NotePeak(HeapBytes());
  return heap_peak_;
}

void MemoryBudget::NotePeak(std::size_t heap_bytes) {
  heap_peak_ = std::max(heap_peak_, heap_bytes - std::min(heap_bytes, leftovers_));
}

void* MemoryBudget::Allocate(std::size_t length) {
  return Allocate(length, BufferSlabs::Content::kZero);
}

void* MemoryBudget::AllocateUninitialized(std::size_t length) {
  return Allocate(length, BufferSlabs::Content::kUninitialized);
}

void MemoryBudget::Free(void* data, std::size_t length) {
  external_ -= length;
  length <= BufferSlabs::kMaxBlockBytes ? slabs_.Free(data) : std::free(data);
}

void* MemoryBudget::Allocate(std::size_t length, BufferSlabs::Content content) {
  void* block = nullptr;
  if (Fits(length)) {
    // Under RLIMIT_DATA this can fail for want of what V8 still keeps of pages that it has freed.
    const MemoryGuard::Permit permit;
    if (length <= BufferSlabs::kMaxBlockBytes) {
      block = slabs_.Allocate(length, content);
    } else {
      block = content == BufferSlabs::Content::kZero ? std::calloc(length, 1) : std::malloc(length);
    }
  }
  if (block == nullptr) {
    // V8 collects garbage and asks again, the last time after collecting all it can.
    if (armed_ && (length > ceiling_ || (refused_ && collected_all_))) MemoryGuard::OutOfMemory();
    refused_ = true;
    return nullptr;
  }
  refused_ = collected_all_ = false;
  external_ += length;
  headroom_ -= std::min(headroom_, length);
  if (armed_ && external_ > limit_external_ + kLimitStep) FollowWithHeapLimit();
  return block;
}

bool MemoryBudget::Fits(std::size_t length) {
  if (!armed_ || length <= headroom_) return true;
  const std::size_t used = HeapBytes() + external_;
  const std::size_t left = ceiling_ - std::min(ceiling_, used);
  headroom_ = std::min(left, std::max(length, kHeadroomStep));
  return length <= left;
}

void MemoryBudget::FollowWithHeapLimit() {
  limit_external_ = external_;
  limit_tables_ = TableBytes();
  // The only way to lower the limit of a live isolate; V8 keeps it at 1.25 times what lives or more.
  isolate_->RemoveNearHeapLimitCallback(NearHeapLimit, HeapLimit());
  isolate_->AddNearHeapLimitCallback(NearHeapLimit, this);
}

std::size_t MemoryBudget::HeapLimit() const {
  return ceiling_ - std::min(ceiling_, limit_external_ + limit_tables_);
}

std::size_t MemoryBudget::HeapBytes() {
  v8::HeapStatistics statistics;
  isolate_->GetHeapStatistics(&statistics);
  return statistics.used_heap_size();
}

std::size_t MemoryBudget::TableBytes() {
  v8::HeapStatistics statistics;
  isolate_->GetHeapStatistics(&statistics);
  return statistics.malloced_memory();
}

std::size_t MemoryBudget::NearHeapLimit(void* self, std::size_t current_limit,
                                        std::size_t /*initial_limit*/) {
  auto* const budget = static_cast<MemoryBudget*>(self);
  // V8 has just collected garbage, so this is what the job holds.
  if (!budget->armed_ || budget->HeapBytes() + budget->external_ > budget->ceiling_)
    MemoryGuard::OutOfMemory();
  // Buffers and tables that have been freed give the heap its share back; V8 can be told so only here.
  budget->limit_external_ = budget->external_;
  budget->limit_tables_ = budget->TableBytes();
  const std::size_t limit = budget->HeapLimit() + kFragmentationSlack;
  if (limit < current_limit + kLimitStep) MemoryGuard::OutOfMemory();
  return limit;
}

void MemoryBudget::BeforeCollection(v8::Isolate* isolate, v8::GCType /*type*/, v8::GCCallbackFlags /*flags*/,
                                    void* self) {
  auto* const budget = static_cast<MemoryBudget*>(self);
  if (!budget->armed_) return;
  v8::HeapStatistics statistics;
  isolate->GetHeapStatistics(&statistics);
  budget->NotePeak(statistics.used_heap_size());
  budget->committed_ = statistics.total_heap_size();
}

void MemoryBudget::AfterCollection(v8::Isolate* isolate, v8::GCType type, v8::GCCallbackFlags flags,
                                   void* self) {
  auto* const budget = static_cast<MemoryBudget*>(self);
  if (!budget->armed_) return;
  if (type == v8::kGCTypeMarkSweepCompact) budget->leftovers_ = 0;
  if (budget->refused_ && (flags & v8::kGCCallbackFlagCollectAllAvailableGarbage) != 0) {
    budget->collected_all_ = true;
  }
  // A table grows between two collections; the next one must come early enough for both.
  if (budget->TableBytes() > budget->limit_tables_ + kLimitStep) budget->FollowWithHeapLimit();
  if (type == v8::kGCTypeMarkSweepCompact && budget->PoolIsInTheWay()) {
    isolate->RequestInterrupt(ReleasePool, self);
  }
}

bool MemoryBudget::PoolIsInTheWay() {
  v8::HeapStatistics statistics;
  isolate_->GetHeapStatistics(&statistics);
  const std::size_t freed = committed_ - std::min(committed_, statistics.total_heap_size());
  return freed >= kPoolWorthReleasing && committed_ + external_ + TableBytes() > ceiling_ / 2;
}

void MemoryBudget::ReleasePool(v8::Isolate* isolate, void* /*self*/) {
  isolate->MemoryPressureNotification(v8::MemoryPressureLevel::kCritical);
  isolate->MemoryPressureNotification(v8::MemoryPressureLevel::kNone);
}

}  // namespace skerry::engine
