// Stack traces as text in the user's coordinates, made from V8's own records; no user code runs.
//
// Threads: V8's.
#pragma once

#include <v8-context.h>
#include <v8-debug.h>
#include <v8-local-handle.h>

#include <string>

#include "common/outcome.h"
#include "worker/engine/program_source.h"

namespace skerry::engine {

/// "\n    at name (job.js:1:2)" for each frame; empty for an empty trace.
std::string FramesText(v8::Isolate* isolate, v8::Local<v8::StackTrace> trace, const ProgramSource& source);

/// The innermost frame in the job's own source; {0, 0} if there is none.
SourcePosition FirstOwnFrame(v8::Isolate* isolate, v8::Local<v8::StackTrace> trace,
                             const ProgramSource& source);

/// V8's callback for `error.stack`: our text, unless the program has set Error.prepareStackTrace, which then
/// runs as it would natively.
v8::MaybeLocal<v8::Value> PrepareStackTrace(v8::Local<v8::Context> context, v8::Local<v8::Value> error,
                                            v8::Local<v8::Array> sites);

}  // namespace skerry::engine
