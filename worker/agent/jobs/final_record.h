// Checks the final record of an isolate: hostile input that may only say how its own program ended.
//
// Threads: pure functions. Errors: the Error says what is wrong with the record; the run then counts as
// having broken the protocol.
#pragma once

#include <string>

#include "common/job.h"
#include "common/limits.h"
#include "common/outcome.h"
#include "common/result.h"
#include "common/wire/messages.h"

namespace skerry::agent {

/// The outcome that a record claims. Accepted are ok with a value of at most maxResultBytes of JSON text, and
/// the codes VALIDATION, COMPILE, RUNTIME, LIMIT and OOM with a fault and a limit that go with them. Texts
/// are cut to kMaxErrorBytes, and of the usage only heap_peak_bytes and dropped_events are taken: the worker
/// counts the rest.
///
/// A value in MessagePack is within the limit as far as its size can tell, and its JSON text is as long as
/// the record says, where that can be true.
Result<Outcome> CheckFinal(const wire::Final& final, std::string payload, const Limits& limits,
                           Encoding encoding = Encoding::kJson);

}  // namespace skerry::agent
