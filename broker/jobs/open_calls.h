// Host calls that went to a client and have no answer yet: a client that lost them, or a new process under
// its old name, is told them again when it submits their job again. Without that the job would wait for ever.
//
// Threads: the core's. Ownership: a running job's lease holds its own; a session counts their bytes. Errors:
// past its bound a call is not kept, and then lost with its client.
#pragma once

#include <cstdint>
#include <vector>

#include "broker/sessions/session_registry.h"
#include "common/units.h"

namespace skerry::broker {

/// Notes a call that is about to be relayed; its payloads as well, while its session's calls stay below
/// `bound`.
void KeepCall(Job& job, const wire::Call& call, const std::vector<Payload>& payloads, Bytes bound);
/// It is answered, or nobody will answer it. False: it was not open.
bool ForgetCall(Job& job, std::uint32_t call);
/// The run that made them is over.
void ForgetCalls(Job& job);

}  // namespace skerry::broker
