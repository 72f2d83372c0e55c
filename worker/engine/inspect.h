// Values as a person reads them in a console, much as Node shows them, without running a line of the program:
// no getters, no proxy traps, no toString. Bounded in depth, items and bytes.
//
// Threads: V8's. Errors: none; what cannot be shown is named by its kind.
#pragma once

#include <v8-context.h>
#include <v8-local-handle.h>
#include <v8-value.h>

#include <cstddef>
#include <string>
#include <vector>

#include "worker/engine/program_source.h"
#include "worker/engine/v8_text.h"

namespace skerry::engine {

/// A single value, strings quoted; cut at `max_bytes`.
std::string Inspect(v8::Local<v8::Context> context, v8::Local<v8::Value> value, std::size_t max_bytes);

/// The arguments of a console call joined by spaces, strings bare. A first argument that is a string may hold
/// %s, %d, %i, %f, %j, %o, %O, %c and %%.
TextPrefix FormatConsole(v8::Local<v8::Context> context, const std::vector<v8::Local<v8::Value>>& arguments,
                         const ProgramSource& source, std::size_t max_bytes);

}  // namespace skerry::engine
