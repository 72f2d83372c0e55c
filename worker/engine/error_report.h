// From an uncaught exception to the job's error. Message, name and stack are read without running user code:
// a program's own `toString`, getters or Error.prepareStackTrace never speak for it here.
//
// Threads: V8's. Errors: none; what cannot be read is left out.
#pragma once

#include <v8-context.h>
#include <v8-local-handle.h>
#include <v8-message.h>
#include <v8-value.h>

#include <string>

#include "common/limits.h"
#include "common/outcome.h"
#include "worker/engine/program_source.h"

namespace skerry::engine {

/// `message`: what a TryCatch caught with the exception; empty: made from the exception.
JobError DescribeUncaught(v8::Local<v8::Context> context, v8::Local<v8::Value> exception,
                          v8::Local<v8::Message> message, Code code, const ProgramSource& source);

/// "Name: message" as Error.prototype.toString would have it; for what is no error, how the console shows it.
std::string Headline(v8::Local<v8::Context> context, v8::Local<v8::Value> exception,
                     std::size_t max_bytes = kMaxErrorBytes);

/// Headline and frames, cut to `max_bytes`: ask for one more than there is room for to see whether it was
/// cut.
std::string ErrorText(v8::Local<v8::Context> context, v8::Local<v8::Value> exception,
                      const ProgramSource& source, std::size_t max_bytes);

}  // namespace skerry::engine
