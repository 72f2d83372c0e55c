// The promises that a job leaves rejected with nobody listening: one console event each at the end.
//
// Bounded: no more are tracked than console events could go out; past that they are only counted.
// Threads: V8's.
#pragma once

#include <v8-context.h>
#include <v8-local-handle.h>
#include <v8-persistent-handle.h>
#include <v8-promise.h>

#include <cstdint>
#include <vector>

#include "worker/engine/event_meter.h"
#include "worker/engine/program_source.h"

namespace skerry::engine {

class Rejections {
 public:
  explicit Rejections(std::size_t capacity) : capacity_(capacity) {}

  /// V8's promise reject callback.
  void On(v8::Local<v8::Context> context, const v8::PromiseRejectMessage& message);
  /// Sends an event for each that is still unhandled, the job's own promise excepted.
  void Report(v8::Local<v8::Context> context, v8::Local<v8::Value> own_promise, const ProgramSource& source,
              EventMeter* meter);
  /// Whether any is still unhandled.
  bool AnyLeft(v8::Isolate* isolate);

 private:
  void DropHandled(v8::Isolate* isolate);

  const std::size_t capacity_;
  std::vector<v8::Global<v8::Promise>> tracked_;
  std::uint64_t untracked_ = 0;
};

}  // namespace skerry::engine
