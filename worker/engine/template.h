// The isolate and context that every fork begins with: from a startup snapshot with our prelude, bindings
// installed, warmed, and then compacted so that a fork copies little.
//
// Threads: V8's one. Ownership: lives as long as the process; the isolate stays entered.
// Errors: Make fails with one line.
#pragma once

#include <v8-context.h>
#include <v8-isolate.h>
#include <v8-microtask-queue.h>
#include <v8-persistent-handle.h>
#include <v8-snapshot.h>

#include <memory>

#include "common/result.h"
#include "worker/engine/engine.h"
#include "worker/engine/intrinsics.h"
#include "worker/engine/memory_budget.h"

namespace skerry::engine {

class Template {
 public:
  static Result<std::unique_ptr<Template>> Make(const EngineOptions& options);
  /// A startup snapshot with our prelude; its data lives as long as the process.
  static Result<v8::StartupData> MakeSnapshot();
  /// Neither warmed nor compacted: for the baseline of bench/, which uses each for one job and disposes of
  /// it.
  static Result<std::unique_ptr<Template>> MakeCold(const EngineOptions& options, v8::StartupData snapshot);
  /// Collects all garbage, and leaves nothing of that to a fork: whenever the template has grown. Less
  /// thorough than what Make does, of which a kept function of 500 KB ran three times as long in each fork.
  void Sweep();
  /// Ends the isolate, which only a template that is never forked needs. Nothing of it may be used after
  /// this.
  void Dispose();
  /// A fresh context in place of the one that a job has run in. Nothing that the job left behind runs in it
  /// or after it: each has a queue of microtasks of its own, and the old one's is gone.
  Status Renew();

  v8::Isolate* isolate() const { return isolate_; }
  MemoryBudget& budget() { return budget_; }
  const Intrinsics& intrinsics() const { return intrinsics_; }
  v8::Local<v8::Context> context() const { return context_.Get(isolate_); }

 private:
  Status MakeIsolate(const EngineOptions& options, v8::StartupData snapshot);
  /// A context from the snapshot with bindings, and its intrinsics.
  Result<v8::Local<v8::Context>> MakeContext(Intrinsics* intrinsics, v8::MicrotaskQueue* microtasks);
  /// The context of the next job.
  Status MakeJobContext();
  void DropContext();
  Status TakeOffGlobals(v8::Local<v8::Context> context, Intrinsics* intrinsics);
  /// Runs representative code in a throw-away context (DESIGN section 6.5).
  Status Warm();
  void Compact();

  MemoryBudget budget_;
  v8::StartupData snapshot_{};
  v8::Isolate* isolate_ = nullptr;
  std::unique_ptr<v8::MicrotaskQueue>
      microtasks_;  ///< of context_; must outlive it, or the context be detached
  v8::Global<v8::Context> context_;
  Intrinsics intrinsics_;
};

}  // namespace skerry::engine
