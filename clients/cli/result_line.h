// One line of a results file, in the exact shape of DESIGN section 9, and the events inside it.
//
// Threads: pure functions. Values and statuses from workers are embedded raw, but only after a check: what is
// not JSON cannot break a line.
#pragma once

#include <string>

#include "clients/cpp/client_types.h"
#include "common/outcome.h"

namespace skerry::cli {

/// Appends one event to the inside of an `events` array, with a comma where needed.
void AppendEvent(std::string& events, const JobNotice& notice);

/// The line with its newline. `events`: what AppendEvent built.
std::string ResultLine(const JobId& id, const Outcome& outcome, const std::string& events);

/// The outcome as it may be written: a value that is not JSON is a broken protocol, hence CRASH; a receipt
/// that is not is left out.
Outcome Checked(Outcome outcome);

}  // namespace skerry::cli
