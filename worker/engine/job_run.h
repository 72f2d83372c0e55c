// One run of one program in one context, from its text to its Outcome.
//
// Threads: V8's. Ownership: borrows program, port and intrinsics for its lifetime. While it exists, callbacks
// of its isolate find it through Current. Errors: none; whatever the program does is the Outcome.
#pragma once

#include <v8-context.h>
#include <v8-isolate.h>
#include <v8-local-handle.h>
#include <v8-promise.h>

#include <optional>
#include <string>
#include <variant>

#include "common/outcome.h"
#include "worker/engine/engine.h"
#include "worker/engine/event_meter.h"
#include "worker/engine/host_calls.h"
#include "worker/engine/intrinsics.h"
#include "worker/engine/kept_program.h"
#include "worker/engine/program_source.h"
#include "worker/engine/rejections.h"
#include "worker/engine/unkeepable.h"

namespace skerry::engine {

class JobRun {
 public:
  /// `kept`: what this context has of the program already; null: nothing.
  JobRun(v8::Local<v8::Context> context, const Intrinsics& intrinsics, const Program& program, JobPort& port,
         const KeptProgram* kept = nullptr);
  ~JobRun();
  JobRun(const JobRun&) = delete;
  JobRun& operator=(const JobRun&) = delete;

  /// The run that the isolate is busy with; null in the template.
  static JobRun* Current(v8::Isolate* isolate);
  static void OnPromiseReject(v8::PromiseRejectMessage message);

  /// The whole job. Call it once.
  Outcome Run();
  /// Instead of Run: does what of the job is the same for every input, or says why that cannot be kept; then
  /// the context is spoilt. Whatever it says to its port is a reason as well, and the caller's to see.
  std::optional<Unkeepable> Keep(Seeding seeding, KeptProgram* kept);

  EventMeter& events() { return events_; }
  HostCalls& calls() { return calls_; }
  const Intrinsics& intrinsics() const { return intrinsics_; }
  const ProgramSource& source() const { return source_; }

 private:
  using ValueOrError = std::variant<v8::Local<v8::Value>, JobError>;

  /// The program's value, its promises followed.
  ValueOrError Evaluate();
  /// Defines `input`, and what of the rest the context does not have already.
  std::optional<JobError> SetUpGlobals();
  void SeedRandom();
  /// Runs microtasks and host answers until the promise is settled.
  ValueOrError Settle(v8::Local<v8::Promise> promise);
  JobError Uncaught(v8::Local<v8::Value> exception) const;
  /// Into Outcome::value, or the VALIDATION that conversion ends in.
  std::optional<JobError> Convert(v8::Local<v8::Value> value, std::string* text) const;

  v8::Isolate* const isolate_;
  const v8::Local<v8::Context> context_;
  const Intrinsics& intrinsics_;
  const Program& program_;
  const KeptProgram* const kept_;
  EventMeter events_;
  HostCalls calls_;
  Rejections rejections_;
  ProgramSource source_;
  v8::Local<v8::Promise> promise_;  ///< the one being settled; its rejection is the job's error, not an event
};

}  // namespace skerry::engine
