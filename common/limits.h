// The limits of a job: names, defaults, ranges, and the operator's ceilings (DESIGN section 4).
//
// A refusal is not an Error of ours but the job's VALIDATION, so it names its field:
//
//   auto resolved = ResolveLimits(requested, ceilings);
//   if (auto* refused = std::get_if<LimitRefusal>(&resolved)) ... refused->field, refused->message
//
// Threads: plain data. Nothing is ever clamped: a value over its ceiling is refused.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace skerry {

enum class LimitId : std::uint8_t {
  kMemoryMb,
  kTimeoutMs,
  kCpuMs,
  kMaxCodeBytes,
  kMaxDataRequests,
  kMaxDataBytes,
  kMaxParamsBytes,
  kMaxResultBytes,
  kMaxStatusEvents,
  kMaxConsoleEvents,
  kMaxEventBytes,
  kMaxEventsTotalBytes,
};
inline constexpr std::size_t kLimitCount = 12;

/// The value of a limit that is not set (`cpuMs` by default).
inline constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();

struct LimitSpec {
  LimitId id;
  std::string_view name;          ///< the field's name in jobs, errors and metrics
  std::uint64_t default_value;    ///< kUnlimited: none
  std::uint64_t minimum;          ///< smaller values are refused as absurd
  std::uint64_t default_ceiling;  ///< the operator's ceiling where the configuration names none
  std::uint64_t hard_maximum;     ///< no configuration may go past it
};

// memoryMb's minimum: a fork of the warmed template needs some 5 MiB before the first line of a program runs.
// hard maxima bound what one message may ask us to allocate: frames, counters, V8's own 4 GiB-class limits.
inline constexpr std::array<LimitSpec, kLimitCount> kLimitSpecs = {{
    {LimitId::kMemoryMb, "memoryMb", 256, 8, 1024, 16384},
    {LimitId::kTimeoutMs, "timeoutMs", 30'000, 1, 600'000, 86'400'000},
    {LimitId::kCpuMs, "cpuMs", kUnlimited, 1, 600'000, 86'400'000},
    {LimitId::kMaxCodeBytes, "maxCodeBytes", 524'288, 1, 8u << 20, 64u << 20},
    {LimitId::kMaxDataRequests, "maxDataRequests", 20, 0, 10'000, 1'000'000},
    {LimitId::kMaxDataBytes, "maxDataBytes", 52'428'800, 0, 256u << 20, 1u << 30},
    {LimitId::kMaxParamsBytes, "maxParamsBytes", 1'048'576, 0, 16u << 20, 64u << 20},
    {LimitId::kMaxResultBytes, "maxResultBytes", 5'242'880, 1, 64u << 20, 256u << 20},
    {LimitId::kMaxStatusEvents, "maxStatusEvents", 1'000, 0, 100'000, 10'000'000},
    {LimitId::kMaxConsoleEvents, "maxConsoleEvents", 1'000, 0, 100'000, 10'000'000},
    {LimitId::kMaxEventBytes, "maxEventBytes", 65'536, 64, 1u << 20, 16u << 20},
    {LimitId::kMaxEventsTotalBytes, "maxEventsTotalBytes", 4'194'304, 0, 64u << 20, 1u << 30},
}};

/// Error messages and stacks are cut to this many bytes each (DESIGN section 3, `maxErrorBytes`).
inline constexpr std::size_t kMaxErrorBytes = 16 * 1024;
/// The largest receipt: what it holds is bounded, and comes to some 800 bytes.
inline constexpr std::size_t kMaxReceiptBytes = 4 * 1024;
/// The largest `input`, in bytes of JSON text.
inline constexpr std::size_t kMaxInputBytes = 64u << 20;

constexpr const LimitSpec& SpecOf(LimitId id) {
  return kLimitSpecs[static_cast<std::size_t>(id)];
}
constexpr std::string_view NameOf(LimitId id) {
  return SpecOf(id).name;
}
std::optional<LimitId> LimitByName(std::string_view name);

/// One value per limit. Default-constructed: the defaults of DESIGN section 4.
class Limits {
 public:
  constexpr Limits() {
    for (const auto& spec : kLimitSpecs) values_[static_cast<std::size_t>(spec.id)] = spec.default_value;
  }
  constexpr std::uint64_t Get(LimitId id) const { return values_[static_cast<std::size_t>(id)]; }
  constexpr void Set(LimitId id, std::uint64_t value) { values_[static_cast<std::size_t>(id)] = value; }
  constexpr bool operator==(const Limits&) const = default;

  constexpr std::uint64_t memory_mb() const { return Get(LimitId::kMemoryMb); }
  constexpr std::uint64_t timeout_ms() const { return Get(LimitId::kTimeoutMs); }
  constexpr std::uint64_t cpu_ms() const { return Get(LimitId::kCpuMs); }

 private:
  std::array<std::uint64_t, kLimitCount> values_{};
};

/// The operator's ceilings: a job that asks for more is refused, and a job that asks for nothing gets the
/// smaller of default and ceiling.
class Ceilings {
 public:
  constexpr Ceilings() {
    for (const auto& spec : kLimitSpecs) values_[static_cast<std::size_t>(spec.id)] = spec.default_ceiling;
  }
  constexpr std::uint64_t Get(LimitId id) const { return values_[static_cast<std::size_t>(id)]; }
  constexpr void Set(LimitId id, std::uint64_t value) { values_[static_cast<std::size_t>(id)] = value; }

 private:
  std::array<std::uint64_t, kLimitCount> values_{};
};

/// The limits a job names, as they came: unknown names and absurd values included.
using RequestedLimits = std::vector<std::pair<std::string, std::uint64_t>>;

/// Why a job's limits were refused: `field` is the limit's name as the job wrote it.
struct LimitRefusal {
  std::string field;
  std::string message;
};

std::variant<Limits, LimitRefusal> ResolveLimits(const RequestedLimits& requested, const Ceilings& ceilings);

}  // namespace skerry
