// One budget per job over V8's heap and the ArrayBuffers outside it (DESIGN sections 4 and 6.7).
//
// The heap's limit, the buffers' bytes and V8's own tables share it: whatever they take is taken from the
// heap's limit, and a buffer that does not fit gets its chance after V8 has collected garbage. What neither
// sees (zones, ICU, code) is bounded from outside by RLIMIT_DATA, whose failures the allocation hooks turn
// into the same end.
//
//   before the fork: Attach(isolate)      in the fork: Arm(memoryMb)
//
// Threads: V8's one. Ownership: outlives the isolate. Errors: a job over its budget ends in
// MemoryGuard::OutOfMemory.
#pragma once

#include <v8-array-buffer.h>
#include <v8-callbacks.h>
#include <v8-isolate.h>

#include <cstddef>
#include <cstdint>

#include "common/units.h"
#include "worker/engine/buffer_slabs.h"

namespace skerry::engine {

class MemoryBudget : public v8::ArrayBuffer::Allocator {
 public:
  void Attach(v8::Isolate* isolate);
  /// From now on everything beyond what lives now counts against `budget`: once for each job.
  void Arm(Bytes budget);
  /// Between two jobs: gives back what earlier ones have left, once that is worth a full collection. What
  /// stays is bounded, and is not counted against the job that comes.
  void CollectLeftovers();

  /// The most that V8's heap held, looked at before each collection and now.
  std::uint64_t HeapPeakBytes();

  void* Allocate(std::size_t length) override;
  void* AllocateUninitialized(std::size_t length) override;
  void Free(void* data, std::size_t length) override;

 private:
  void* Allocate(std::size_t length, BufferSlabs::Content content);
  /// Whether the budget has room. Asks V8 what its heap holds only when the headroom is used up.
  bool Fits(std::size_t length);
  void FollowWithHeapLimit();
  std::size_t HeapBytes();
  void NotePeak(std::size_t heap_bytes);
  /// What V8 keeps outside its heap, above all the table of internalised strings.
  std::size_t TableBytes();
  std::size_t HeapLimit() const;

  bool PoolIsInTheWay();

  static void ReleasePool(v8::Isolate* isolate, void* self);
  static std::size_t NearHeapLimit(void* self, std::size_t current_limit, std::size_t initial_limit);
  static void BeforeCollection(v8::Isolate* isolate, v8::GCType type, v8::GCCallbackFlags flags, void* self);
  static void AfterCollection(v8::Isolate* isolate, v8::GCType type, v8::GCCallbackFlags flags, void* self);

  BufferSlabs slabs_;
  v8::Isolate* isolate_ = nullptr;
  bool armed_ = false;
  std::size_t ceiling_ = 0;         ///< of heap and buffers together: what lived at Arm, plus the budget
  std::size_t external_ = 0;        ///< bytes of buffers that live
  std::size_t headroom_ = 0;        ///< bytes of buffers that may be added without a look at the heap
  std::size_t limit_external_ = 0;  ///< external_ when the heap's limit was last set
  std::size_t limit_tables_ = 0;    ///< ... and what TableBytes was
  std::size_t committed_ = 0;       ///< pages of the heap before the last collection
  std::size_t heap_peak_ = 0;
  std::size_t base_ = 0;  ///< what the heap held before the first job
  std::size_t leftovers_ =
      0;  ///< what it holds of earlier jobs, as far as is known: garbage until the next collection
  bool refused_ = false;        ///< a buffer did not fit, and V8 is collecting garbage for it
  bool collected_all_ = false;  ///< ... and has collected all it could since
};

}  // namespace skerry::engine
