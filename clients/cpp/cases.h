// One program, many inputs: what goes into Client::SubmitCases and what comes of it.
//
// Each case is a job of its own, with its own limits, outcome, events and usage; together they have one id,
// and one summary when the last has ended. A case has a name on the wire, made of the job's id and the case's
// number: it is the `id` of its events, what `on_call` is given, and what Cancel takes to end that case
// alone.
//
// Threads: plain data.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "clients/cpp/program.h"
#include "common/job.h"
#include "common/outcome.h"
#include "common/units.h"

namespace skerry {

/// Cases of one job.
inline constexpr std::size_t kMaxCases = 100'000;

enum class StopOn : std::uint8_t {
  kNever,
  /// The first case that ends otherwise than ok cancels the rest. Ends that are no verdict (IsVerdict) do
  /// not: what they say nothing about is worth finding out still.
  kFirstFailure,
};

/// Whether an end says something about the job. Infrastructure's faults and RATE_LIMITED do not: the same job
/// is to be run again.
inline bool IsVerdict(Code code, Fault fault) {
  return fault != Fault::kInfrastructure && code != Code::kRateLimited;
}

struct CasesRequest {
  /// What the cases have in common; `id` names them together. With `program` their evaluated state is kept.
  JobSpec spec;
  std::shared_ptr<const Program> program;
  std::vector<std::string> inputs;  ///< 1 to kMaxCases; JSON text each; empty: `input` is undefined
  /// The cases' numbers, ascending, for who has some of them already; empty: 0, 1, 2, ...
  std::vector<std::uint32_t> numbers;
  StopOn stop_on = StopOn::kNever;
};

/// Which case of which job.
struct CaseOf {
  JobId job;
  std::uint32_t number = 0;
};

struct CasesSummary {
  std::uint64_t cases = 0;
  std::uint64_t ok = 0;
  std::uint64_t cancelled = 0;                         ///< ended CANCELLED, run or not
  std::uint64_t started = 0;                           ///< began, however they ended
  std::array<std::uint64_t, kCodeCount> by_code = {};  ///< failures, by code; none is CANCELLED
  std::array<Fault, kCodeCount> faults = {};           ///< of the first failure of each code
  Millis wall{0};                                      ///< from their submission to the last one's end

  std::uint64_t failed() const { return cases - ok - cancelled; }
  void Count(const Outcome& outcome) {
    if (outcome.ok()) return CountOk();
    CountFailed(outcome.error->code, outcome.error->fault, outcome.error->started);
  }
  void CountOk() { ++cases, ++ok, ++started; }
  void CountFailed(Code code, Fault fault, bool began) {
    ++cases;
    started += began ? 1 : 0;
    if (code == Code::kCancelled) return void(++cancelled);
    const auto index = static_cast<std::size_t>(code);
    if (by_code[index]++ == 0) faults[index] = fault;
  }
};

/// All cases of a job have had their finals.
struct CasesEnded {
  JobId id;
  CasesSummary summary;
};

/// Of a case that was never submitted, because another one's end, or Cancel, came first.
Outcome CancelledUnrun(std::string_view why);
inline constexpr std::string_view kStoppedByFailure = "not run: an earlier case failed";

}  // namespace skerry
