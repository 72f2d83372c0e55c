// The allocation family, interposed: where an allocation of a running job fails, the job is out of memory.
// And V8's mappings are laid side by side (mapping_arena.h).
//
// Left alone, a failure under RLIMIT_DATA shows as SIGABRT, SIGTRAP or an ICU error, depending on who asked.
// In a fork, small blocks come from job_heap.h. libstdc++'s operators new and delete call malloc and free, so
// they need no hooks of their own.
//
// Threads: any. Errors: a failure in a process that runs no job is returned as libc would.
#include <dlfcn.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "worker/engine/host/job_heap.h"
#include "worker/engine/host/mapping_arena.h"
#include "worker/engine/host/memory_guard.h"

extern "C" {
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* block, size_t size);
void* __libc_memalign(size_t alignment, size_t size);
void __libc_free(void* block);
}

namespace {

using skerry::engine::JobHeap;
using skerry::engine::MappingArena;
using skerry::engine::MemoryGuard;
using skerry::engine::PageRange;
using skerry::engine::process_job_heap;

constinit MappingArena arena;

void* Checked(void* block) {
  if (__builtin_expect(block == nullptr, 0)) MemoryGuard::OnFailedAllocation();
  return block;
}

/// A job that needs a second new page of the heap will fill it: see mapping_arena.h. The first may stay
/// nearly empty.
void OnHeapPage(const PageRange& page) {
  static int pages = 0;
  if (page.size() == 0 || !MemoryGuard::IsArmed() || ++pages == 1) return;
  ::madvise(reinterpret_cast<void*>(page.begin), page.size(), MADV_POPULATE_WRITE);
}

size_t LibcUsableSize(void* block) {
  static const auto ask =
      reinterpret_cast<size_t (*)(void*)>(::dlsym(RTLD_NEXT, "malloc_usable_size"));  // it has no other name
  return ask(block);
}

bool IsPowerOfTwo(size_t value) {
  return value != 0 && (value & (value - 1)) == 0;
}

}  // namespace

extern "C" {

void* malloc(size_t size) {
  if (void* const block = process_job_heap.Allocate(size)) return block;
  return Checked(__libc_malloc(size));
}

void free(void* block) noexcept {
  if (process_job_heap.Owns(block)) return process_job_heap.Free(block);
  if (!process_job_heap.IsInherited(block)) __libc_free(block);
}

void* calloc(size_t count, size_t size) {
  size_t bytes = 0;
  if (!__builtin_mul_overflow(count, size, &bytes)) {
    if (void* const block = process_job_heap.Allocate(bytes)) return std::memset(block, 0, bytes);
  }
  return Checked(__libc_calloc(count, size));
}

void* realloc(void* block, size_t size) {
  if (block == nullptr) return malloc(size);
  if (!process_job_heap.Owns(block) && !process_job_heap.IsInherited(block)) {
    void* const moved = __libc_realloc(block, size);
    return size == 0 ? moved : Checked(moved);
  }
  if (size == 0) return free(block), nullptr;
  const size_t room = malloc_usable_size(block);
  if (size <= room) return block;
  void* const moved = malloc(size);
  if (moved == nullptr) return nullptr;
  std::memcpy(moved, block, room);
  free(block);
  return moved;
}

size_t malloc_usable_size(void* block) noexcept {
  if (process_job_heap.Owns(block)) return JobHeap::SizeOf(block);
  return LibcUsableSize(block);
}

void* memalign(size_t alignment, size_t size) {
  return Checked(__libc_memalign(alignment, size));
}

void* aligned_alloc(size_t alignment, size_t size) {
  return Checked(__libc_memalign(alignment, size));
}

int posix_memalign(void** block, size_t alignment, size_t size) {
  if (alignment % sizeof(void*) != 0 || !IsPowerOfTwo(alignment)) return EINVAL;
  *block = Checked(__libc_memalign(alignment, size));
  return *block == nullptr ? ENOMEM : 0;
}

void* mmap(void* address, size_t length, int protection, int flags, int fd, off_t offset) noexcept {
  const std::uintptr_t place = arena.Place(reinterpret_cast<std::uintptr_t>(address), length, flags);
  const long result = ::syscall(SYS_mmap, place, length, protection, flags, fd, offset);
  // Only what would be private writable memory counts: reserving too much address space is V8's to answer
  // for.
  if (result == -1 && errno == ENOMEM && (protection & PROT_WRITE) != 0) MemoryGuard::OnFailedAllocation();
  return reinterpret_cast<void*>(result);
}

void* mmap64(void* address, size_t length, int protection, int flags, int fd, off64_t offset) noexcept {
  return mmap(address, length, protection, flags, fd, offset);
}

int munmap(void* address, size_t length) noexcept {
  const int result = static_cast<int>(::syscall(SYS_munmap, address, length));
  const auto begin = reinterpret_cast<std::uintptr_t>(address);
  OnHeapPage(arena.Cut({begin, begin + length}));
  return result;
}

int mprotect(void* address, size_t length, int protection) noexcept {
  const long result = ::syscall(SYS_mprotect, address, length, protection);
  if (result == -1 && errno == ENOMEM) MemoryGuard::OnFailedAllocation();
  return static_cast<int>(result);
}

}  // extern "C"
