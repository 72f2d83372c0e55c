#include "worker/engine/watched_globals.h"

#include <v8-external.h>
#include <v8-primitive.h>

#include "worker/engine/bindings.h"
#include "worker/engine/v8_text.h"

namespace skerry::engine {

WatchedGlobals::WatchedGlobals(v8::Local<v8::Context> context)
    : isolate_(v8::Isolate::GetCurrent()), context_(context) {}

WatchedGlobals::~WatchedGlobals() {
  Touched();
}

void WatchedGlobals::Watch(std::string_view name, Unkeepable reason) {
  const v8::Local<v8::Object> global = context_->Global();
  const v8::Local<v8::String> key = Literal(isolate_, name);
  Watched& watched = all_.emplace_back(Watched{this, name, reason, v8::Undefined(isolate_)});
  if (!global->Get(context_, key).ToLocal(&watched.value) ||
      !global->SetLazyDataProperty(context_, key, OnRead, v8::External::New(isolate_, &watched), v8::DontEnum)
           .FromMaybe(false)) {
    Note(reason);
  }
}

std::optional<Unkeepable> WatchedGlobals::Touched() {
  if (!touched_) {
    probing_ = true;
    for (Watched& watched : all_) {
      if (!IsAsLaidOut(watched) && !touched_) touched_ = watched.reason;
    }
    all_.clear();
  }
  return touched_;
}

bool WatchedGlobals::IsAsLaidOut(Watched& watched) {
  const v8::Local<v8::Object> global = context_->Global();
  const v8::Local<v8::String> key = Literal(isolate_, watched.name);
  v8::PropertyAttribute attributes = v8::None;
  return global->GetPropertyAttributes(context_, key).To(&attributes) && attributes == v8::DontEnum &&
         !global->Get(context_, key).IsEmpty() && watched.probed;
}

void WatchedGlobals::OnRead(v8::Local<v8::Name> /*name*/, const v8::PropertyCallbackInfo<v8::Value>& info) {
  auto* const watched = static_cast<Watched*>(info.Data().As<v8::External>()->Value());
  if (watched->owner->probing_) {
    watched->probed = true;
    info.GetReturnValue().Set(watched->value);
  } else {
    watched->owner->Note(watched->reason);
  }
}

void WatchedGlobals::Note(Unkeepable reason) {
  if (!touched_) touched_ = reason;
  isolate_->TerminateExecution();
}

}  // namespace skerry::engine
