#include "worker/engine/rejections.h"

#include <v8-exception.h>
#include <v8-isolate.h>

#include <algorithm>
#include <string>

#include "worker/engine/error_report.h"
#include "worker/engine/v8_text.h"

namespace skerry::engine {
namespace {

/// Marks a promise that is tracked, so that one that is handled late is looked up in no list.
v8::Local<v8::Private> Mark(v8::Isolate* isolate) {
  return v8::Private::ForApi(isolate, Literal(isolate, "skerry.rejection"));
}

}  // namespace

void Rejections::On(v8::Local<v8::Context> context, const v8::PromiseRejectMessage& message) {
  v8::Isolate* const isolate = v8::Isolate::GetCurrent();
  v8::HandleScope scope(isolate);
  v8::TryCatch ignored(isolate);
  const v8::Local<v8::Promise> promise = message.GetPromise();
  if (message.GetEvent() == v8::kPromiseRejectWithNoHandler) {
    if (tracked_.size() >= capacity_ && untracked_ == 0) DropHandled(isolate);
    if (tracked_.size() < capacity_ &&
        promise->SetPrivate(context, Mark(isolate), v8::True(isolate)).FromMaybe(false)) {
      tracked_.emplace_back(isolate, promise);
    } else {
      ++untracked_;
    }
  } else if (message.GetEvent() == v8::kPromiseHandlerAddedAfterReject && untracked_ > 0 &&
             !promise->HasPrivate(context, Mark(isolate)).FromMaybe(true)) {
    --untracked_;
  }
}

void Rejections::Report(v8::Local<v8::Context> context, v8::Local<v8::Value> own_promise,
                        const ProgramSource& source, EventMeter* meter) {
  v8::Isolate* const isolate = v8::Isolate::GetCurrent();
  DropHandled(isolate);
  for (const auto& tracked : tracked_) {
    v8::HandleScope scope(isolate);
    const v8::Local<v8::Promise> promise = tracked.Get(isolate);
    if (!own_promise.IsEmpty() && promise->StrictEquals(own_promise)) continue;
    if (!meter->AdmitConsole()) continue;
    const std::string text = ErrorText(context, promise->Result(), source, meter->max_event_bytes() + 1);
    meter->SendConsole(Level::kError, "Unhandled rejection: " + text, /*whole=*/true);
  }
  meter->DropMany(untracked_);
}

bool Rejections::AnyLeft(v8::Isolate* isolate) {
  DropHandled(isolate);
  return !tracked_.empty() || untracked_ > 0;
}

void Rejections::DropHandled(v8::Isolate* isolate) {
  v8::HandleScope scope(isolate);
  std::erase_if(tracked_, [isolate](const auto& promise) { return promise.Get(isolate)->HasHandler(); });
}

}  // namespace skerry::engine
