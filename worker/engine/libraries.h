// The operator's libraries in a template, and `require`, which gives them to programs.
//
// A library is CommonJS: it finds `module`, `exports` and `require` (of libraries before it), and so a UMD
// bundle takes that way. It is evaluated once; every fork sees the same `module.exports`. `require` is a
// frozen native function that keeps what it knows to itself.
//
// Threads: V8's. Ownership: persistent handles; an isolate with them is never disposed of. Errors: one line
// that names the library, and the place in it where that is known.
#pragma once

#include <v8-container.h>
#include <v8-context.h>
#include <v8-function.h>
#include <v8-persistent-handle.h>

#include "common/result.h"
#include "worker/engine/engine.h"

namespace skerry::engine {

class Libraries {
 public:
  /// kInvalid: it does not compile, or throws.
  Status Load(v8::Local<v8::Context> context, const LibraryText& library);

 private:
  Status MakeRequire(v8::Local<v8::Context> context);

  v8::Global<v8::Map> exports_;  // by name
  v8::Global<v8::Function> require_;
};

}  // namespace skerry::engine
