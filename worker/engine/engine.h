// The V8 of this process: started once, warmed, and forked per job. V8 is behind this header and nowhere
// else.
//
//   auto engine = Engine::Start(options);            // in the cell, ~25 ms
//   ... fork ...
//   Outcome outcome = (*engine)->Run(program, port);  // in the fork, once; then leave by _exit
//
// Threads: strictly one; V8 runs with --single-threaded so that the process can be forked.
// Ownership: an Engine is never destroyed in a fork; leave by _exit.
// Errors: Start fails with one clear line (host binary, headers or V8 version do not match). Run never fails:
// whatever the program does short of ending the process is an Outcome.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/job.h"
#include "common/limits.h"
#include "common/outcome.h"
#include "common/result.h"
#include "worker/engine/job_port.h"
#include "worker/engine/unkeepable.h"

namespace skerry::engine {

/// Which of V8's compilers may run (DESIGN section 6.8). Full: TurboFan too.
enum class Jit : std::uint8_t { kFull, kMaglev, kNone };

/// What RLIMIT_DATA must allow a job beyond the template's data and its memoryMb: the young generation, pages
/// that a collection copies into, pages that V8 has freed but not given back yet, half-empty pages. Measured:
/// with 16 MiB programs that use 80 % of 64 MiB for objects of 100 KB fail, with 24 they pass; peaks stay
/// under memoryMb + 40.
inline constexpr std::uint64_t kDataMarginMb = 24;

/// Where the host's code lies. Huge pages make forks cheaper and cost 46 MiB and some 20 ms a start.
enum class TextPages : std::uint8_t { kFile, kHuge };

struct EngineOptions {
  /// The heap limit of the template in MiB: a fork can lower it, never raise it. Range: 8 to 16384.
  std::uint64_t max_memory_mb = 1024;
  Jit jit = Jit::kMaglev;
  TextPages text = TextPages::kFile;
};

/// One job's program. The views must live as long as Run.
struct Program {
  Mode mode = Mode::kFunction;
  std::string_view code;   ///< UTF-8
  std::string_view input;  ///< JSON text, UTF-8; empty: undefined
  Limits limits;
  std::uint64_t seed = 0;  ///< of Math.random; the caller draws it from the kernel unless the job fixes it
  std::optional<std::uint64_t> clock_ms;  ///< time stands still here, ms since the epoch; none: real time
  bool wasm = false;
};

/// CommonJS text, UTF-8, of the operator's.
struct LibraryText {
  std::string_view name;  ///< what `require` knows it by
  std::string_view code;
};

/// Whether the seed is the job's own to fix: then a kept program has drawn from it already what it draws
/// while it is evaluated. Else each run draws from a seed of its own.
enum class Seeding : bool { kPerRun, kFixed };

class Engine {
 public:
  static Result<std::unique_ptr<Engine>> Start(const EngineOptions& options);
  virtual ~Engine() = default;

  /// Does a small job in a throw-away fork, and arranges this process so that what it touched is cheap for
  /// later forks. Optional; call it last before them, while /proc is there. Takes some 5 ms and up to 16 MiB.
  virtual void Rehearse() = 0;
  /// Optional, in a fork, while it waits for its job: makes ready what any job will need.
  virtual void Prepare() = 0;

  /// In a template, before Keep and the forks that shall have it: evaluates a library, and from then on
  /// `require` is a global. kInvalid: it throws or does not compile; one line says how, and this process is
  /// of no more use.
  virtual Status Load(const LibraryText& library) = 0;
  /// In a template, once and last: compiles the program and, if it is a module, evaluates it under its
  /// memoryMb, as far as no input is needed. Runs in forks then go on from there, whatever their `code` and
  /// `mode`, and end as one from the beginning would (but for usage). Where it cannot promise that it says
  /// why, and this process is of no more use. `program.seed` counts where it is fixed. Out of memory ends in
  /// the handler; a loop that never ends is the caller's to kill.
  virtual std::optional<Unkeepable> Keep(const Program& program, Seeding seeding) = 0;

  /// Runs one program to its end. Call it in a fork, once, or once more after each Renew. Of the Outcome it
  /// fills: error (code, limit, fault, message, name, stack, position), value, and of usage heap_peak_bytes,
  /// data_requests, data_bytes, status_events, console_events, dropped_events, result_bytes. TIMEOUT, CRASH
  /// and infrastructure codes are the worker's to decide.
  virtual Outcome Run(const Program& program, JobPort& port) = 0;
  /// After a Run, where nothing was loaded or kept, for another of the same tenant's with the same memoryMb:
  /// a fresh context, in which nothing of the earlier program can be found or runs. The heap is the same one:
  /// this is no wall against native code.
  virtual Status Renew() = 0;
};

/// The V8 version of the running host, e.g. "14.6.202.34-node.40".
std::string_view V8Version();

/// The flags that V8 is started with, in their order, e.g. "--single-threaded --no-expose-gc ...".
std::string V8Flags(Jit jit);

/// Called when the job's memory is exhausted, from inside an allocation or a V8 callback. It must neither
/// allocate nor return. Unset (in the template, while warming): the process aborts.
using OutOfMemoryHandler = void (*)();
void SetOutOfMemoryHandler(OutOfMemoryHandler handler);

}  // namespace skerry::engine
