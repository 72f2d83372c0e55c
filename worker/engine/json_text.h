// JSON between V8 and text. The semantics are JSON.stringify's own, whatever the program has done to the
// global JSON; at the top level undefined, functions and symbols become null.
//
// Threads: V8's. Errors: nothing comes back and an exception is pending: the program's (a throwing toJSON),
// or V8's (cycles, BigInt, too long). Converting runs user code.
#pragma once

#include <v8-context.h>
#include <v8-local-handle.h>
#include <v8-value.h>

#include <optional>
#include <string>
#include <string_view>

namespace skerry::engine {

std::optional<std::string> ToJsonText(v8::Local<v8::Context> context, v8::Local<v8::Value> value);
/// As ToJsonText, still a V8 string: its size can be asked before it is copied.
v8::MaybeLocal<v8::String> ToJsonString(v8::Local<v8::Context> context, v8::Local<v8::Value> value);
v8::MaybeLocal<v8::Value> ParseJson(v8::Local<v8::Context> context, std::string_view text);

}  // namespace skerry::engine
