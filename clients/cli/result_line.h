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
/// The same of one case of the job: {"id":"a1","case":0, and the rest.
std::string CaseLine(const CaseOf& of, const Outcome& outcome, const std::string& events);

/// The line that follows those of a job's cases: {"id":"a1","summary":{...}, and the rest, where `error` has
/// the code that most failures have, and the fault of the first of those. Its own `usage` is nothing: what
/// all lines used is the cases'.
std::string SummaryLine(const JobId& id, const CasesSummary& summary);

/// The outcome as it may be written: a value that is not JSON is a broken protocol, hence CRASH; a receipt
/// that is not is left out.
Outcome Checked(Outcome outcome);

}  // namespace skerry::cli
