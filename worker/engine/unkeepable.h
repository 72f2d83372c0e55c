// Why a program cannot be kept evaluated: each fork of a cell that has evaluated it would start from a state
// that a run from the beginning might not have come to, or would miss what such a run had said.
//
// Threads: plain data. Its numbers cross from a cell, which may lie, to the worker: NameOf takes any.
#pragma once

#include <cstdint>
#include <string_view>

namespace skerry::engine {

enum class Unkeepable : std::uint8_t {
  kFails,            ///< it does not compile, or throws: an ordinary run says how
  kTouchesInput,     ///< every job has another
  kReports,          ///< console calls and status events are each job's own
  kCallsHost,        ///< so are host calls
  kDrawsRandom,      ///< ... and random numbers where the seed is not fixed
  kReadsClock,       ///< ... and the time where it is real
  kNeverSettles,     ///< its evaluation waits for what an ordinary run may bring
  kLeavesRejection,  ///< an event of each job that does not handle it
  kHoldsWeakly,      ///< what a WeakRef finds is the collector's choice
};
inline constexpr int kUnkeepableCount = 9;

constexpr std::string_view NameOf(Unkeepable reason) {
  switch (reason) {
    case Unkeepable::kFails:
      return "it does not compile, or throws";
    case Unkeepable::kTouchesInput:
      return "it looks at its input, or changes it, while it is evaluated";
    case Unkeepable::kReports:
      return "it reports an event while it is evaluated";
    case Unkeepable::kCallsHost:
      return "it makes a host call while it is evaluated";
    case Unkeepable::kDrawsRandom:
      return "it draws a random number while it is evaluated, and no seed is fixed";
    case Unkeepable::kReadsClock:
      return "it reads the clock while it is evaluated, and none is fixed";
    case Unkeepable::kNeverSettles:
      return "its evaluation does not settle by itself";
    case Unkeepable::kLeavesRejection:
      return "its evaluation leaves a rejection that nobody handles";
    case Unkeepable::kHoldsWeakly:
      return "it takes WeakRef or FinalizationRegistry while it is evaluated";
  }
  return "no reason that is known";
}

}  // namespace skerry::engine
