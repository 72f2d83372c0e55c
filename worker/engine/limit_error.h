// SandboxLimitError: what a host call past a limit rejects with. A program may catch it and go on; only the
// very object, uncaught, is the job's LIMIT. Its mark is a private symbol that no program can read, copy or
// forge.
//
// Threads: V8's.
#pragma once

#include <v8-context.h>
#include <v8-local-handle.h>
#include <v8-value.h>

#include <optional>
#include <string_view>

#include "common/limits.h"
#include "common/outcome.h"

namespace skerry::engine {

/// Empty only where V8 cannot make an object any more (an exception is pending).
v8::MaybeLocal<v8::Value> MakeLimitError(v8::Local<v8::Context> context, LimitId limit,
                                         std::string_view message);

/// The limit of an error that MakeLimitError made; none for anything else.
std::optional<LimitId> LimitOf(v8::Local<v8::Context> context, v8::Local<v8::Value> value);

}  // namespace skerry::engine
