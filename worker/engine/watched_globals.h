// Globals that a program must not look at while it is evaluated to be kept: they seem to be there, and
// whoever reads one is ended; who changes one is found out.
//
//   WatchedGlobals watched(context);
//   watched.Watch("input", Unkeepable::kTouchesInput);
//   ... evaluate ...
//   if (const auto touched = watched.Touched()) return touched;
//
// Threads: V8's. Ownership: must outlive the evaluation. Errors: none; what cannot be watched counts as
// touched.
#pragma once

#include <v8-context.h>
#include <v8-function-callback.h>
#include <v8-isolate.h>
#include <v8-local-handle.h>
#include <v8-object.h>
#include <v8-value.h>

#include <list>
#include <optional>
#include <string_view>

#include "worker/engine/unkeepable.h"

namespace skerry::engine {

class WatchedGlobals {
 public:
  explicit WatchedGlobals(v8::Local<v8::Context> context);
  ~WatchedGlobals();
  WatchedGlobals(const WatchedGlobals&) = delete;
  WatchedGlobals& operator=(const WatchedGlobals&) = delete;

  /// Not enumerable, like every built-in; its value, undefined where there is none, stays what it is.
  void Watch(std::string_view name, Unkeepable reason);

  /// The first that was read, or one that is no longer as it was laid out: written, removed, redefined,
  /// frozen. Else they have become plain properties, each in its place: the order of a global object's keys
  /// is the program's to see.
  std::optional<Unkeepable> Touched();

 private:
  struct Watched {
    WatchedGlobals* owner;
    std::string_view name;
    Unkeepable reason;
    v8::Local<v8::Value> value;
    bool probed = false;  // read by Touched itself
  };

  static void OnRead(v8::Local<v8::Name> name, const v8::PropertyCallbackInfo<v8::Value>& info);
  void Note(Unkeepable reason);
  bool IsAsLaidOut(Watched& watched);

  v8::Isolate* const isolate_;
  const v8::Local<v8::Context> context_;
  std::list<Watched> all_;  // their addresses are the accessors' data
  bool probing_ = false;
  std::optional<Unkeepable> touched_;
};

}  // namespace skerry::engine
