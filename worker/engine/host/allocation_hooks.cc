// The allocation family, interposed: where an allocation of a running job fails, the job is out of memory.
// And V8's mappings are laid side by side (mapping_arena.h).
//
// Left alone, a failure under RLIMIT_DATA shows as SIGABRT, SIGTRAP or an ICU error, depending on who asked.
// glibc's operator new calls malloc, so it needs no hook of its own. Freeing is not hooked: the memory is
// glibc's own.
//
// Threads: any. Errors: a failure in a process that runs no job is returned as libc would.
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "worker/engine/host/mapping_arena.h"
#include "worker/engine/host/memory_guard.h"

extern "C" {
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* block, size_t size);
void* __libc_memalign(size_t alignment, size_t size);
}

namespace {

using skerry::engine::MappingArena;
using skerry::engine::MemoryGuard;
using skerry::engine::PageRange;

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

bool IsPowerOfTwo(size_t value) {
  return value != 0 && (value & (value - 1)) == 0;
}

}  // namespace

extern "C" {

void* malloc(size_t size) {
  return Checked(__libc_malloc(size));
}

void* calloc(size_t count, size_t size) {
  return Checked(__libc_calloc(count, size));
}

void* realloc(void* block, size_t size) {
  void* const moved = __libc_realloc(block, size);
  return size == 0 ? moved : Checked(moved);
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
