// A job as every part sees it: what the client asked for, without the payload frames (code, input).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/ids.h"
#include "common/limits.h"

namespace skerry {

/// How the code is read (DESIGN section 5).
enum class Mode : std::uint8_t { kFunction, kScript, kModule };
/// Whether a run that died for no reason of its own may be run again.
enum class Retry : std::uint8_t { kSafe, kNever, kAlways };
/// What happens where no slot is free: wait, or be refused with OVERLOADED at once.
enum class Admission : std::uint8_t { kQueue, kFailFast };
/// Console levels, and the level of an event.
enum class Level : std::uint8_t { kLog, kInfo, kDebug, kWarn, kError, kAssert };
/// What a job streams back while it runs.
enum class EventType : std::uint8_t { kConsole, kStatus };

/// Whether a job that may have run already may run once more (DESIGN section 7). `safe`: where it had made no
/// host call, which a second run would make again. How often, is the asker's to bound.
bool AllowsAnotherRun(Retry retry, bool made_host_call);

std::string_view NameOf(Mode mode);
std::string_view NameOf(Retry retry);
std::string_view NameOf(Admission admission);
std::string_view NameOf(Level level);
std::string_view NameOf(EventType type);
std::optional<Mode> ModeByName(std::string_view name);
std::optional<Retry> RetryByName(std::string_view name);
std::optional<Admission> AdmissionByName(std::string_view name);
std::optional<Level> LevelByName(std::string_view name);
std::optional<EventType> EventTypeByName(std::string_view name);

struct JobSpec {
  JobId id;
  TenantId tenant{"default"};
  UserId user;
  Mode mode = Mode::kFunction;
  RequestedLimits limits;         ///< only those the job names
  std::string code_hash;          ///< SHA-256 of the code, 32 raw bytes
  std::uint64_t memory_mb = 0;    ///< resolved memoryMb: what admission counts; 0: not resolved yet
  std::int32_t priority = 0;      ///< higher runs first inside a tenant; -100 to 100
  std::uint64_t deadline_ms = 0;  ///< must have started this long after submission; 0: none
  Retry retry = Retry::kSafe;
  Admission admission = Admission::kQueue;
  bool wasm = false;
};

}  // namespace skerry
