#include "common/job.h"

#include <array>

namespace skerry {
namespace {

constexpr std::array<std::string_view, 3> kModes = {"function", "script", "module"};
constexpr std::array<std::string_view, 3> kRetries = {"safe", "never", "always"};
constexpr std::array<std::string_view, 2> kAdmissions = {"queue", "failFast"};
constexpr std::array<std::string_view, 2> kReuses = {"none", "context"};
constexpr std::array<std::string_view, 2> kEncodings = {"json", "msgpack"};
constexpr std::array<std::string_view, 2> kOnDisconnects = {"keep", "cancel"};
constexpr std::array<std::string_view, 6> kLevels = {"log", "info", "debug", "warn", "error", "assert"};
constexpr std::array<std::string_view, 2> kEventTypes = {"console", "status"};

template <class Enum, std::size_t N>
std::optional<Enum> Find(const std::array<std::string_view, N>& names, std::string_view name) {
  for (std::size_t i = 0; i < N; ++i) {
    if (names[i] == name) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

}  // namespace

bool AllowsAnotherRun(Retry retry, bool made_host_call) {
  return retry == Retry::kAlways || (retry == Retry::kSafe && !made_host_call);
}

bool AsksForReproducibility(const JobSpec& spec) {
  return spec.seed || spec.clock_ms || spec.receipt;
}

bool ClockByName(std::string_view name, std::optional<std::uint64_t>& clock_ms) {
  if (name == "real") {
    clock_ms.reset();
  } else if (name == "frozen") {
    clock_ms = kFrozenClockMs;
  } else {
    return false;
  }
  return true;
}

std::optional<std::string> FaultInReproducibility(const JobSpec& spec) {
  if (spec.seed && *spec.seed > kMaxSeed)
    return "seed must be an integer from 0 to " + std::to_string(kMaxSeed);
  if (spec.clock_ms && *spec.clock_ms > kMaxClockMs) {
    return "clock must be an integer from 0 to " + std::to_string(kMaxClockMs) + ", in ms since the epoch";
  }
  return std::nullopt;
}

std::string_view NameOf(Mode mode) {
  return kModes[static_cast<std::size_t>(mode)];
}
std::string_view NameOf(Retry retry) {
  return kRetries[static_cast<std::size_t>(retry)];
}
std::string_view NameOf(Admission admission) {
  return kAdmissions[static_cast<std::size_t>(admission)];
}
std::string_view NameOf(Reuse reuse) {
  return kReuses[static_cast<std::size_t>(reuse)];
}
std::string_view NameOf(Encoding encoding) {
  return kEncodings[static_cast<std::size_t>(encoding)];
}
std::string_view NameOf(OnDisconnect policy) {
  return kOnDisconnects[static_cast<std::size_t>(policy)];
}
std::string_view NameOf(Level level) {
  return kLevels[static_cast<std::size_t>(level)];
}
std::string_view NameOf(EventType type) {
  return kEventTypes[static_cast<std::size_t>(type)];
}
std::optional<Mode> ModeByName(std::string_view name) {
  return Find<Mode>(kModes, name);
}
std::optional<Retry> RetryByName(std::string_view name) {
  return Find<Retry>(kRetries, name);
}
std::optional<Admission> AdmissionByName(std::string_view name) {
  return Find<Admission>(kAdmissions, name);
}
std::optional<Reuse> ReuseByName(std::string_view name) {
  return Find<Reuse>(kReuses, name);
}
std::optional<Encoding> EncodingByName(std::string_view name) {
  return Find<Encoding>(kEncodings, name);
}
std::optional<OnDisconnect> OnDisconnectByName(std::string_view name) {
  return Find<OnDisconnect>(kOnDisconnects, name);
}
std::optional<Level> LevelByName(std::string_view name) {
  return Find<Level>(kLevels, name);
}
std::optional<EventType> EventTypeByName(std::string_view name) {
  return Find<EventType>(kEventTypes, name);
}

}  // namespace skerry
