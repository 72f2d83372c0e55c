#include "worker/engine/limit_error.h"

#include <v8-exception.h>
#include <v8-isolate.h>
#include <v8-object.h>

#include "worker/engine/v8_text.h"

namespace skerry::engine {
namespace {

v8::Local<v8::Private> Mark(v8::Isolate* isolate) {
  return v8::Private::ForApi(isolate, Literal(isolate, "skerry.limit"));
}

}  // namespace

v8::MaybeLocal<v8::Value> MakeLimitError(v8::Local<v8::Context> context, LimitId limit,
                                         std::string_view message) {
  v8::Isolate* const isolate = v8::Isolate::GetCurrent();
  const v8::Local<v8::Value> value = v8::Exception::Error(Literal(isolate, message));
  if (value.IsEmpty() || !value->IsObject()) return {};
  const auto error = value.As<v8::Object>();
  const auto name = Literal(isolate, SandboxErrorName(Code::kLimit));
  const auto number = v8::Integer::NewFromUnsigned(isolate, static_cast<std::uint32_t>(limit));
  if (!error->DefineOwnProperty(context, Literal(isolate, "name"), name, v8::DontEnum).FromMaybe(false) ||
      !error->DefineOwnProperty(context, Literal(isolate, "limit"), Literal(isolate, NameOf(limit)))
           .FromMaybe(false) ||
      !error->SetPrivate(context, Mark(isolate), number).FromMaybe(false)) {
    return {};
  }
  return value;
}

std::optional<LimitId> LimitOf(v8::Local<v8::Context> context, v8::Local<v8::Value> value) {
  if (!value->IsNativeError()) return std::nullopt;
  v8::Local<v8::Value> number;
  if (!value.As<v8::Object>()->GetPrivate(context, Mark(v8::Isolate::GetCurrent())).ToLocal(&number) ||
      !number->IsUint32()) {
    return std::nullopt;
  }
  return static_cast<LimitId>(number.As<v8::Uint32>()->Value());
}

}  // namespace skerry::engine
