#include "worker/engine/host_calls.h"

#include <v8-exception.h>
#include <v8-isolate.h>

#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "worker/engine/json_text.h"
#include "worker/engine/limit_error.h"
#include "worker/engine/v8_text.h"

namespace skerry::engine {

HostCalls::HostCalls(const Limits& limits, JobPort& port)
    : port_(port),
      limits_(port),
      max_requests_(limits.Get(LimitId::kMaxDataRequests)),
      max_data_bytes_(limits.Get(LimitId::kMaxDataBytes)),
      max_params_bytes_(limits.Get(LimitId::kMaxParamsBytes)) {}

v8::MaybeLocal<v8::Promise> HostCalls::Request(v8::Local<v8::Context> context, v8::Local<v8::Value> method,
                                               v8::Local<v8::Value> params) {
  v8::Isolate* const isolate = v8::Isolate::GetCurrent();
  v8::Local<v8::Promise::Resolver> resolver;
  if (!v8::Promise::Resolver::New(context).ToLocal(&resolver)) return {};
  v8::Local<v8::Value> refusal;
  {
    v8::TryCatch caught(isolate);
    if (!Send(context, resolver, method, params).ToLocal(&refusal) && caught.HasCaught()) {
      refusal = caught.Exception();
    }
  }
  if (!refusal.IsEmpty() && resolver->Reject(context, refusal).IsNothing()) return {};
  return resolver->GetPromise();
}

v8::MaybeLocal<v8::Value> HostCalls::Send(v8::Local<v8::Context> context,
                                          v8::Local<v8::Promise::Resolver> resolver,
                                          v8::Local<v8::Value> method, v8::Local<v8::Value> params) {
  v8::Isolate* const isolate = v8::Isolate::GetCurrent();
  if (!method->IsString()) {
    return v8::Exception::TypeError(Literal(isolate, "dataProxy.request: the method must be a string"));
  }
  if (requests_ >= max_requests_) return RefuseRequest(context);
  std::optional<std::string> params_text = ToJsonText(context, params);
  if (!params_text) return {};
  const std::string method_text = ToUtf8(isolate, method.As<v8::String>());
  const std::uint64_t size = method_text.size() + params_text->size();
  if (size > max_params_bytes_) {
    limits_.Trip(LimitId::kMaxParamsBytes);
    return MakeLimitError(context, LimitId::kMaxParamsBytes,
                          "a host call of " + std::to_string(size) + " bytes is over maxParamsBytes " +
                              std::to_string(max_params_bytes_));
  }
  // Conversion may have run the program's own toJSON, and that may have made calls.
  if (requests_ >= max_requests_) return RefuseRequest(context);
  const std::uint32_t call = ++requests_;
  waiting_.emplace(call, v8::Global<v8::Promise::Resolver>(isolate, resolver));
  port_.SendCall(call, method_text, *params_text);
  return {};
}

void HostCalls::AwaitOne(v8::Local<v8::Context> context) {
  v8::Isolate* const isolate = v8::Isolate::GetCurrent();
  v8::HandleScope scope(isolate);
  const HostAnswer answer = port_.AwaitAnswer();
  const auto found = waiting_.find(answer.call);
  if (found == waiting_.end()) return;
  const v8::Local<v8::Promise::Resolver> resolver = found->second.Get(isolate);
  waiting_.erase(found);

  v8::TryCatch caught(isolate);
  v8::Local<v8::Value> value;
  bool resolves = false;
  if (answer.kind == HostAnswer::Kind::kRefused || answer.text.size() > max_data_bytes_ - data_bytes_) {
    value = RefuseAnswer(context).FromMaybe(v8::Local<v8::Value>());
  } else {
    data_bytes_ += answer.text.size();
    if (answer.kind == HostAnswer::Kind::kError) {
      value = v8::Exception::Error(Literal(isolate, answer.text));
    } else {
      resolves = ParseJson(context, answer.text).ToLocal(&value);
    }
  }
  if (value.IsEmpty())
    value = caught.HasCaught() ? caught.Exception() : v8::Undefined(isolate).As<v8::Value>();
  caught.Reset();
  // Whatever a polluted `then` throws here, the promise has been settled with it.
  std::ignore = resolves ? resolver->Resolve(context, value) : resolver->Reject(context, value);
}

v8::MaybeLocal<v8::Value> HostCalls::RefuseRequest(v8::Local<v8::Context> context) {
  limits_.Trip(LimitId::kMaxDataRequests);
  return MakeLimitError(context, LimitId::kMaxDataRequests,
                        "host calls are limited to maxDataRequests " + std::to_string(max_requests_));
}

v8::MaybeLocal<v8::Value> HostCalls::RefuseAnswer(v8::Local<v8::Context> context) const {
  return MakeLimitError(context, LimitId::kMaxDataBytes,
                        "the answers of host calls are over maxDataBytes " + std::to_string(max_data_bytes_));
}

void HostCalls::Report(Usage* usage) const {
  usage->data_requests = requests_;
  usage->data_bytes = data_bytes_;
}

}  // namespace skerry::engine
