#include "worker/engine/host/huge_text.h"

#include <sys/mman.h>
#include <v8-initialization.h>

#include <cstdint>

#include "worker/engine/host/huge_pages.h"
#include "worker/engine/host/memory_map.h"

namespace skerry::engine {
namespace {

/// The executable mapping that V8's code is in. Empty where this code lies in it as well (a statically linked
/// V8): nobody can saw off the branch he sits on.
PageRange HostText() {
  const auto v8_code = reinterpret_cast<std::uintptr_t>(&v8::V8::GetVersion);
  const auto own_code = reinterpret_cast<std::uintptr_t>(&MoveTextToHugePages);
  for (const Mapping& mapping : ReadMemoryMap()) {
    if (!mapping.Contains(v8_code)) continue;
    const bool code = mapping.readable && mapping.executable && !mapping.writable;
    return code && !mapping.Contains(own_code) ? mapping.range : PageRange();
  }
  return {};
}

}  // namespace

std::size_t MoveTextToHugePages() {
  return MoveToHugePages(WholeHugePages(HostText()), PROT_READ | PROT_EXEC);
}

}  // namespace skerry::engine
