// Functions of a context as they were before any user code ran in it.
//
// Threads: V8's. Ownership: persistent handles; an isolate with them is never disposed of.
#pragma once

#include <v8-function.h>
#include <v8-object.h>
#include <v8-persistent-handle.h>

namespace skerry::engine {

struct Intrinsics {
  v8::Global<v8::Function> async_function;   ///< the AsyncFunction constructor
  v8::Global<v8::Function> settle;           ///< `async (value) => value`
  v8::Global<v8::Function> seed_random;      ///< seeds Math.random with three 32-bit integers
  v8::Global<v8::Function> random_drawn;     ///< whether it has been drawn from since
  v8::Global<v8::Object> error;              ///< the Error constructor
  v8::Global<v8::Function> error_to_string;  ///< Error.prototype.toString
  v8::Global<v8::Value> web_assembly;        ///< the WebAssembly namespace, taken off the global
};

}  // namespace skerry::engine
