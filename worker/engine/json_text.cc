#include "worker/engine/json_text.h"

#include <v8-isolate.h>
#include <v8-json.h>
#include <v8-primitive.h>

#include "worker/engine/v8_text.h"

namespace skerry::engine {

v8::MaybeLocal<v8::String> ToJsonString(v8::Local<v8::Context> context, v8::Local<v8::Value> value) {
  v8::Isolate* const isolate = v8::Isolate::GetCurrent();
  v8::Local<v8::String> json;
  if (!v8::JSON::Stringify(context, value).ToLocal(&json)) return {};
  // V8 makes a string of the `undefined` that JSON.stringify gives; no JSON text looks like it.
  if (json->StringEquals(Literal(isolate, "undefined"))) return Literal(isolate, "null");
  return json;
}

std::optional<std::string> ToJsonText(v8::Local<v8::Context> context, v8::Local<v8::Value> value) {
  v8::Isolate* const isolate = v8::Isolate::GetCurrent();
  v8::Local<v8::String> json;
  if (!ToJsonString(context, value).ToLocal(&json)) return std::nullopt;
  return ToUtf8(isolate, json);
}

v8::MaybeLocal<v8::Value> ParseJson(v8::Local<v8::Context> context, std::string_view text) {
  v8::Local<v8::String> source;
  if (!FromUtf8(v8::Isolate::GetCurrent(), text).ToLocal(&source)) return {};
  return v8::JSON::Parse(context, source);
}

}  // namespace skerry::engine
