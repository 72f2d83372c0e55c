// How a job ended: the outcome contract of DESIGN section 3. The verdict is the product.
//
// Threads: plain data. An Outcome is built once, by whoever knows the cause, and relayed unchanged.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/limit_set.h"

namespace skerry {

enum class Code : std::uint8_t {
  kValidation,
  kCompile,
  kRuntime,
  kTimeout,
  kOom,
  kLimit,
  kCrash,
  kCancelled,
  kExpired,
  kRateLimited,
  kUnauthorized,
  kOverloaded,
  kLost,
};
inline constexpr int kCodeCount = 13;

enum class Fault : std::uint8_t { kClient, kProgram, kLimit, kInfrastructure };
inline constexpr int kFaultCount = 4;

/// Whether the same job, submitted again, may end differently through no change of its own.
enum class Retryable : bool { kNo, kYes };

std::string_view NameOf(Code code);
std::string_view NameOf(Fault fault);
std::optional<Code> CodeByName(std::string_view name);
std::optional<Fault> FaultByName(std::string_view name);

/// The fault that DESIGN section 3 gives a code. VALIDATION is the client's here (refused before the run);
/// what fails after it says so itself.
Fault DefaultFault(Code code);
/// OVERLOADED, RATE_LIMITED, LOST and EXPIRED may go better another time; a program's own end does not.
Retryable IsRetryable(Code code);
/// `SandboxTimeoutError`, `SandboxOOMError`, ...; for COMPILE and RUNTIME the program's own name is used
/// instead.
std::string_view SandboxErrorName(Code code);

/// Where in the user's own source, both from 1; 0 means unknown.
struct SourcePosition {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  bool operator==(const SourcePosition&) const = default;
};

struct JobError {
  Code code = Code::kRuntime;
  std::string limit;  ///< the field name that tripped; empty: none
  Fault fault = Fault::kProgram;
  bool started = false;  ///< the job's last byte had been written to its isolate
  bool retryable = false;
  std::string message;
  std::string name;
  std::string stack;  ///< COMPILE and RUNTIME only
  SourcePosition position;
  std::uint32_t retry_after_ms = 0;  ///< OVERLOADED and RATE_LIMITED; 0: not said
};

/// An error with fault, retryable and name as the code implies.
JobError MakeError(Code code, std::string message, std::string limit = {});

/// What a job used, killed jobs included. Times in milliseconds, sizes in bytes.
struct Usage {
  double queue_ms = 0;                  ///< accepted by the broker to dispatched
  double wall_ms = 0;                   ///< last byte written to final read (or killed)
  double cpu_ms = 0;                    ///< the kernel's figure for the isolate's process
  std::uint64_t memory_peak_bytes = 0;  ///< peak resident size above the spare's at hand-over
  std::uint64_t heap_peak_bytes = 0;    ///< V8's own, 0 where it did not live to tell
  std::uint64_t data_requests = 0;
  std::uint64_t data_bytes = 0;
  std::uint64_t status_events = 0;
  std::uint64_t console_events = 0;
  std::uint64_t dropped_events = 0;
  std::uint64_t result_bytes = 0;
  LimitSet tripped;  ///< limits that curtailed the job, whether or not one ended it
};

struct Outcome {
  std::optional<JobError> error;  ///< none: ok
  std::string value;              ///< JSON text, when ok
  Usage usage;
  std::uint32_t attempt = 1;
  std::string receipt;  ///< JSON text of what was run; empty: not asked for, or nothing ran

  bool ok() const { return !error.has_value(); }
};

}  // namespace skerry
