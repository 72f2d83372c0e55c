#include "worker/engine/host/memory_guard.h"

#include <cstdlib>
#include <utility>

namespace skerry::engine {
namespace {

// Constant-initialised: malloc is called before any constructor has run.
constinit OutOfMemoryHandler g_handler = nullptr;
constinit bool g_armed = false;
constinit bool g_handling = false;
constinit bool g_permitted = false;

}  // namespace

void MemoryGuard::SetHandler(OutOfMemoryHandler handler) {
  g_handler = handler;
}

void MemoryGuard::Arm() {
  g_armed = true;
}

void MemoryGuard::Disarm() {
  g_armed = false;
}

bool MemoryGuard::IsArmed() {
  return g_armed;
}

void MemoryGuard::OutOfMemory() {
  if (g_handler != nullptr && !std::exchange(g_handling, true)) g_handler();
  std::abort();
}

void MemoryGuard::OnFailedAllocation() {
  if (g_armed && !g_handling && !g_permitted) OutOfMemory();
}

MemoryGuard::Permit::Permit() {
  g_permitted = true;
}

MemoryGuard::Permit::~Permit() {
  g_permitted = false;
}

void SetOutOfMemoryHandler(OutOfMemoryHandler handler) {
  MemoryGuard::SetHandler(handler);
}

}  // namespace skerry::engine
