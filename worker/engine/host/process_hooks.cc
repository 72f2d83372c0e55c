// Overrides of libc calls that V8 makes and that would break forking.
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

// Node builds V8 to mark its heap MADV_DONTFORK: a fork would find holes where its heap was.
extern "C" int madvise(void* address, size_t length, int advice) noexcept {
  if (advice == MADV_DONTFORK) return 0;
  return static_cast<int>(::syscall(SYS_madvise, address, length, advice));
}
