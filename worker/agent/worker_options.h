// The worker's configuration.
//
// Threads: plain data. Errors: Validate reports every fault at once, one per line, each with the option's
// name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/result.h"
#include "common/units.h"
#include "worker/agent/cells/library_shelf.h"
#include "worker/agent/isolates/isolate_manager.h"

namespace skerry::agent {

inline constexpr std::uint64_t kSmallWorkerMb = 2048;
/// Enough for some combinations of small libraries, one after the other.
inline constexpr std::uint64_t kFewLibrariesMb = kLibraryMb + 32;

struct WorkerOptions {
  /// Where the brokers are, for workers: see common/brokers/broker_place.h.
  std::vector<std::string> brokers;
  /// How often names of brokers are resolved again. Range 1 s to an hour.
  Millis resolve_every{30'000};
  /// File of this worker's secret key, and the public key of brokers that name none of their own: needed for
  /// tcp:// (on loopback: where the broker wants them), not used for ipc://.
  std::string key_file;
  std::string broker_key;
  /// Base cells, at most; 0: a quarter of the cores, one for 4 GiB of memory_mb, at least one. The worker
  /// begins with one and starts another where forks queue for it. Range 1 to 64; each has 128 MiB set aside.
  std::size_t cells = 0;
  /// maxConcurrentIsolates: jobs that run at once. Range 1 to 4096. More than cores hides waiting for host
  /// calls; much more only stretches every job.
  std::size_t isolates = 0;
  /// maxSpares: isolates forked ahead of need. Range 0 to 4096. A job that finds one starts some 1 ms sooner;
  /// each costs kSpareMb.
  std::size_t spares = 0;
  /// workerMemoryMb: everything this worker may promise: cells, spares, and the memoryMb of running jobs.
  std::uint64_t memory_mb = 0;
  /// V8's compilers: full, maglev or none. TurboFan (full) pays only for jobs of seconds, and is where most
  /// V8 exploits live.
  std::string jit = "maglev";
  /// The largest memoryMb of a job: what cells are started for. Range 8 to 16384; lowered to what
  /// workerMemoryMb allows.
  std::uint64_t max_job_memory_mb = 1024;
  /// strict, best-effort or off: see worker/cell/sandbox_report.h. Strict starts no cell whose sandbox has a
  /// hole.
  std::string sandbox = "strict";
  /// Cells that are kept with libraries or with a program evaluated. Range 0 to 1024; 0: none.
  std::size_t kept_cells = 64;
  /// Their memory, a part of memory_mb. None: an eighth of that where it is kSmallWorkerMb at least; less has
  /// no room to spare, and keeps libraries only.
  std::optional<std::uint64_t> kept_mb;
  /// Of the code of programs, beside memory_mb. Range 0 to 4096.
  std::uint64_t kept_code_mb = 64;
  /// Files of libraries that jobs may name, as NAME=PATH.
  std::vector<std::string> libraries;
  /// What is in them: ReadLibraries fills it.
  LibraryShelf shelf;
  /// Path of skerry-cell; empty: beside the worker's own binary.
  std::string cell_program;
  /// This worker's name, stable across reconnects.
  std::string id;

  /// Fills what is 0 or empty with what the machine suggests: isolates 2 x cores, as many spares, 80 % of its
  /// memory.
  void FillDefaults(unsigned cores, Bytes memory);
  Status ReadLibraries();
  Status Validate() const;
  IsolateManager::Options ManagerOptions() const;
};

}  // namespace skerry::agent
