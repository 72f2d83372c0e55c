// A job with `encoding: "msgpack"`: its values cross as MessagePack, and the engine speaks JSON text as ever.
//
// Every limit but maxDataBytes counts the JSON text; that one counts the answers as they cross, which the
// worker does.
//
// Threads: one. Errors: an input that no JSON text can say is the job's VALIDATION; a host's answer that none
// can say rejects its call.
#pragma once

#include <functional>
#include <string_view>

#include "common/outcome.h"
#include "worker/engine/job_port.h"

namespace skerry::cell {

/// Runs the program with this input, JSON text or nothing, over this port.
using RunJson = std::function<Outcome(std::string_view input, engine::JobPort& port)>;

/// `run` once, unless the input is refused; the Outcome's value is MessagePack. `port` takes and gives
/// MessagePack.
Outcome RunMsgpackJob(std::string_view input, engine::JobPort& port, const RunJson& run);

}  // namespace skerry::cell
