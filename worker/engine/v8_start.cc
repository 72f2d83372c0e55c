#include "worker/engine/v8_start.h"

#include <libplatform/libplatform.h>
#include <malloc.h>
#include <v8-initialization.h>

#include <cstdlib>
#include <utility>

namespace skerry::engine {
namespace {

// Buffers and zones of this size and more are mapped of their own, and go back to the kernel when freed: what
// glibc keeps still counts against RLIMIT_DATA. It would raise its threshold to 32 MiB with the first big
// free.
constexpr int kMapThresholdBytes = 64 << 10;

/// Flags of V8, before it starts. Fixed from then on.
void SetFlags(Jit jit) {
  v8::V8::SetFlagsFromString("--single-threaded");
  v8::V8::SetFlagsFromString("--no-expose-gc");
  v8::V8::SetFlagsFromString("--no-allow-natives-syntax");
  // Collected lazily, source positions need a second parse when an error is made: where the stack has
  // overflowed it fails, and every frame of the commonest fault of written programs would be 1:1.
  v8::V8::SetFlagsFromString("--no-enable-lazy-source-positions");
  // Incremental marking finishes in tasks, which nobody runs here: the heap would grow to twice its soft
  // limit with garbage first (measured: 37 MiB where 16 were meant). One pause at the soft limit is also a
  // third less work.
  v8::V8::SetFlagsFromString("--no-incremental-marking");
  // Pages freed by a collection are pooled, to be released by a task 8 s later; without tasks they would
  // stay, and the job's buffers and tables would not get their share of the budget back.
  v8::V8::SetFlagsFromString("--memory-pool-timeout=0");
  switch (jit) {
    case Jit::kFull:
      break;
    case Jit::kMaglev:
      v8::V8::SetFlagsFromString("--no-turbofan");
      break;
    case Jit::kNone:
      v8::V8::SetFlagsFromString("--jitless");
      break;
  }
}

/// Time zone and locale of every job (DESIGN section 5). ICU reads them from the environment when V8 starts.
void SetTimeZoneAndLocale() {
  ::setenv("TZ", "UTC", 1);
  ::setenv("LC_ALL", "en_US.UTF-8", 1);
  ::setenv("LANG", "en_US.UTF-8", 1);
}

}  // namespace

Result<std::unique_ptr<v8::Platform>> StartV8(Jit jit) {
  static bool started = false;
  if (std::exchange(started, true)) return Fail(ErrorKind::kInvalid, "V8 can be started once in a process");
  ::mallopt(M_MMAP_THRESHOLD, kMapThresholdBytes);
  SetTimeZoneAndLocale();
  SetFlags(jit);
  auto platform = v8::platform::NewSingleThreadedDefaultPlatform();
  v8::V8::InitializePlatform(platform.get());
  if (!v8::V8::Initialize()) return Fail(ErrorKind::kInternal, "V8 cannot be initialised");
  return platform;
}

}  // namespace skerry::engine
