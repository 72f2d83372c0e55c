// Between V8's strings and UTF-8. Lone surrogates become U+FFFD, so what comes out is always well-formed.
//
// Threads: V8's. Errors: an empty MaybeLocal means a pending exception (the string is too long for V8).
#pragma once

#include <v8-isolate.h>
#include <v8-local-handle.h>
#include <v8-primitive.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace skerry::engine {

std::string ToUtf8(v8::Isolate* isolate, v8::Local<v8::String> text);

struct TextPrefix {
  std::string text;
  bool whole = true;
};
/// At most `max_bytes` of the text, cut between characters; never costs more than what it returns.
TextPrefix ToUtf8Prefix(v8::Isolate* isolate, v8::Local<v8::String> text, std::size_t max_bytes);

v8::MaybeLocal<v8::String> FromUtf8(v8::Isolate* isolate, std::string_view text);

/// For text of our own, which is short: names of properties, messages.
v8::Local<v8::String> Literal(v8::Isolate* isolate, std::string_view text);

}  // namespace skerry::engine
