// A job as every part sees it: what the client asked for, without the payload frames (code, input).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/ids.h"
#include "common/limits.h"

namespace skerry {

/// How the code is read (DESIGN section 5).
enum class Mode : std::uint8_t { kFunction, kScript, kModule };
/// Whether a run that died for no reason of its own may be run again.
enum class Retry : std::uint8_t { kSafe, kNever, kAlways };
/// What happens where no slot is free: wait, or be refused with OVERLOADED at once.
enum class Admission : std::uint8_t { kQueue, kFailFast };
/// Whether one isolate may run several jobs, each in a context of its own: those of one tenant that ask for
/// it.
enum class Reuse : std::uint8_t { kNone, kContext };
/// How values cross: input, value, status events, parameters and answers of host calls.
enum class Encoding : std::uint8_t { kJson, kMsgpack };
/// What becomes of a job whose client's link is lost: it is kept for a while, or cancelled at once.
enum class OnDisconnect : std::uint8_t { kKeep, kCancel };
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
std::string_view NameOf(Reuse reuse);
std::string_view NameOf(Encoding encoding);
std::string_view NameOf(OnDisconnect policy);
std::string_view NameOf(Level level);
std::string_view NameOf(EventType type);
std::optional<Mode> ModeByName(std::string_view name);
std::optional<Retry> RetryByName(std::string_view name);
std::optional<Admission> AdmissionByName(std::string_view name);
std::optional<Reuse> ReuseByName(std::string_view name);
std::optional<Encoding> EncodingByName(std::string_view name);
std::optional<OnDisconnect> OnDisconnectByName(std::string_view name);
std::optional<Level> LevelByName(std::string_view name);
std::optional<EventType> EventTypeByName(std::string_view name);

/// The largest seed: JSON numbers are exact up to it.
inline constexpr std::uint64_t kMaxSeed = (std::uint64_t{1} << 53) - 1;
/// The last instant that a JavaScript Date can hold, in ms since the epoch.
inline constexpr std::uint64_t kMaxClockMs = 8'640'000'000'000'000;
/// `clock: "frozen"`: 2025-01-01T00:00:00Z.
inline constexpr std::uint64_t kFrozenClockMs = 1'735'689'600'000;
/// Libraries that one job can name.
inline constexpr std::size_t kMaxLibraries = 16;

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
  std::optional<std::uint64_t> seed;      ///< of Math.random, up to kMaxSeed; none: the worker draws one
  std::optional<std::uint64_t> clock_ms;  ///< where time stands still, up to kMaxClockMs; none: real time
  bool receipt = false;                   ///< the final says what was run
  std::vector<std::string> libraries;     ///< what `require` knows, by the operator's names
  /// Jobs of the tenant that agree in code, mode, libraries and limits may start from one evaluated state of
  /// it, and its code may be left out towards a peer that has it.
  bool program = false;
  Reuse reuse = Reuse::kNone;
  Encoding encoding = Encoding::kJson;
  TurnId turn;                        ///< none: it counts in no turn
  std::uint64_t turn_executions = 0;  ///< what the turn may have in all; 0: what the tenant's turns may
  OnDisconnect on_disconnect = OnDisconnect::kKeep;
};

/// Whether it asks for what peers without the capability "reproducible" would not give it, and not say so.
bool AsksForReproducibility(const JobSpec& spec);
/// Reads "real" and "frozen" as jobs and command lines write them. False: it is neither.
bool ClockByName(std::string_view name, std::optional<std::uint64_t>& clock_ms);
/// What is wrong with `seed` or `clock`, if anything.
std::optional<std::string> FaultInReproducibility(const JobSpec& spec);

}  // namespace skerry
