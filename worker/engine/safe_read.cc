#include "worker/engine/safe_read.h"

#include <v8-exception.h>
#include <v8-isolate.h>

#include "worker/engine/v8_text.h"

namespace skerry::engine {
namespace {

// A chain longer than this is a program playing games; what lies beyond is treated as absent.
constexpr int kMaxPrototypeChain = 64;

}  // namespace

bool HasOwn(v8::Local<v8::Context> context, v8::Local<v8::Object> object, v8::Local<v8::Name> key) {
  if (object->IsProxy()) return false;
  return object->HasRealNamedProperty(context, key).FromMaybe(false);
}

bool HasOwnAccessor(v8::Local<v8::Context> context, v8::Local<v8::Object> object, v8::Local<v8::Name> key) {
  if (object->IsProxy()) return false;
  return object->HasRealNamedCallbackProperty(context, key).FromMaybe(false);
}

v8::MaybeLocal<v8::Value> OwnData(v8::Local<v8::Context> context, v8::Local<v8::Object> object,
                                  v8::Local<v8::Name> key) {
  v8::TryCatch ignored(v8::Isolate::GetCurrent());
  if (!HasOwn(context, object, key) || HasOwnAccessor(context, object, key)) return {};
  return object->Get(context, key);  // an own data property: found first, nothing runs
}

v8::MaybeLocal<v8::Value> InheritedData(v8::Local<v8::Context> context, v8::Local<v8::Object> object,
                                        v8::Local<v8::Name> key) {
  v8::TryCatch ignored(v8::Isolate::GetCurrent());
  for (int i = 0; i < kMaxPrototypeChain; ++i) {
    if (object->IsProxy()) return {};
    if (HasOwn(context, object, key)) return OwnData(context, object, key);
    const v8::Local<v8::Value> next = object->GetPrototypeV2();
    if (!next->IsObject()) return {};
    object = next.As<v8::Object>();
  }
  return {};
}

v8::MaybeLocal<v8::Value> OwnElement(v8::Local<v8::Context> context, v8::Local<v8::Object> object,
                                     std::uint32_t index) {
  v8::Isolate* const isolate = v8::Isolate::GetCurrent();
  v8::TryCatch ignored(isolate);
  if (object->IsProxy()) return {};
  if (object->IsTypedArray()) return object->Get(context, index);  // integer-indexed: no getters, no holes
  if (!object->HasRealIndexedProperty(context, index).FromMaybe(false)) return {};
  v8::Local<v8::String> key;
  v8::Local<v8::Value> descriptor;
  if (!v8::Integer::NewFromUnsigned(isolate, index)->ToString(context).ToLocal(&key) ||
      !object->GetOwnPropertyDescriptor(context, key).ToLocal(&descriptor) || !descriptor->IsObject()) {
    return {};
  }
  return OwnData(context, descriptor.As<v8::Object>(), Literal(isolate, "value"));
}

}  // namespace skerry::engine
