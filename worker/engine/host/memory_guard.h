// The one way out when a job's memory is exhausted, whoever notices it: V8, libc, or our own counting.
//
// Threads: one job, one thread. Errors: OutOfMemory never returns.
#pragma once

#include <string_view>

#include "worker/engine/engine.h"

namespace skerry::engine {

class MemoryGuard {
 public:
  static void SetHandler(OutOfMemoryHandler handler);
  /// From now on this process runs a job: a failed allocation ends it.
  static void Arm();
  /// No job runs here any more: forks will run theirs.
  static void Disarm();
  static bool IsArmed();

  /// Calls the handler; aborts if there is none or if the handler itself runs out of memory.
  [[noreturn]] static void OutOfMemory();
  /// As OutOfMemory if armed; returns otherwise.
  static void OnFailedAllocation();

  /// While one lives, a failed allocation is the caller's to handle.
  class Permit {
   public:
    Permit();
    ~Permit();
    Permit(const Permit&) = delete;
    Permit& operator=(const Permit&) = delete;
  };
};

}  // namespace skerry::engine
