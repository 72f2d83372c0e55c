// Ends that the client gives jobs itself. Threads: pure.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "common/outcome.h"

namespace skerry::client {

inline Outcome Ended(Code code, std::string message, std::uint32_t attempt) {
  Outcome outcome;
  outcome.error = MakeError(code, std::move(message));
  outcome.attempt = attempt;
  return outcome;
}

}  // namespace skerry::client
