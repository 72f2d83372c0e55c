#include "worker/engine/v8_start.h"

#include <libplatform/libplatform.h>
#include <malloc.h>
#include <v8-initialization.h>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace skerry::engine {
namespace {

// Buffers and zones of this size and more are mapped of their own, and go back to the kernel when freed: what
// glibc keeps still counts against RLIMIT_DATA. It would raise its threshold to 32 MiB with the first big
// free.
constexpr int kMapThresholdBytes = 64 << 10;

/// Flags of V8, fixed before it starts.
std::vector<const char*> FlagsOf(Jit jit) {
  std::vector<const char*> flags = {
      "--single-threaded", "--no-expose-gc", "--no-allow-natives-syntax",
      // Collected lazily, source positions need a second parse when an error is made: where the stack has
      // overflowed it fails, and every frame of the commonest fault of written programs would be 1:1.
      "--no-enable-lazy-source-positions",
      // Incremental marking finishes in tasks, which nobody runs here: the heap would grow to twice its soft
      // limit with garbage first (measured: 37 MiB where 16 were meant). One pause at the soft limit is also
      // a third less work.
      "--no-incremental-marking",
      // Pages freed by a collection are pooled, to be released by a task 8 s later; without tasks they would
      // stay, and the job's buffers and tables would not get their share of the budget back.
      "--memory-pool-timeout=0"};
  if (jit == Jit::kMaglev) flags.push_back("--no-turbofan");
  if (jit == Jit::kNone) flags.push_back("--jitless");
  return flags;
}

/// Time zone and locale of every job (DESIGN section 5). ICU reads them from the environment when V8 starts.
void SetTimeZoneAndLocale() {
  ::setenv("TZ", "UTC", 1);
  ::setenv("LC_ALL", "en_US.UTF-8", 1);
  ::setenv("LANG", "en_US.UTF-8", 1);
}

}  // namespace

std::string V8Flags(Jit jit) {
  std::string text;
  for (const char* flag : FlagsOf(jit)) text += (text.empty() ? "" : " ") + std::string(flag);
  return text;
}

Result<std::unique_ptr<ClockPlatform>> StartV8(Jit jit) {
  static bool started = false;
  if (std::exchange(started, true)) return Fail(ErrorKind::kInvalid, "V8 can be started once in a process");
  ::mallopt(M_MMAP_THRESHOLD, kMapThresholdBytes);
  SetTimeZoneAndLocale();
  for (const char* flag : FlagsOf(jit)) v8::V8::SetFlagsFromString(flag);
  auto platform = std::make_unique<ClockPlatform>(v8::platform::NewSingleThreadedDefaultPlatform());
  v8::V8::InitializePlatform(platform.get());
  if (!v8::V8::Initialize()) return Fail(ErrorKind::kInternal, "V8 cannot be initialised");
  return platform;
}

}  // namespace skerry::engine
