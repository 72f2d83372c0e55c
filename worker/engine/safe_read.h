// Reading a program's objects without running a line of the program: no accessors, no proxy traps, no
// conversions.
//
// Threads: V8's. Errors: what cannot be read so is simply absent; no exception is left pending.
#pragma once

#include <v8-context.h>
#include <v8-local-handle.h>
#include <v8-object.h>
#include <v8-primitive.h>

namespace skerry::engine {

/// The object's own data property; empty for accessors, proxies and what is not there.
v8::MaybeLocal<v8::Value> OwnData(v8::Local<v8::Context> context, v8::Local<v8::Object> object,
                                  v8::Local<v8::Name> key);

/// As OwnData, along the prototype chain; the first property of that name decides.
v8::MaybeLocal<v8::Value> InheritedData(v8::Local<v8::Context> context, v8::Local<v8::Object> object,
                                        v8::Local<v8::Name> key);

/// An own element by index. Holes and accessors are absent.
v8::MaybeLocal<v8::Value> OwnElement(v8::Local<v8::Context> context, v8::Local<v8::Object> object,
                                     std::uint32_t index);

/// Whether the object has that own property, and whether it is an accessor (native ones count).
bool HasOwn(v8::Local<v8::Context> context, v8::Local<v8::Object> object, v8::Local<v8::Name> key);
bool HasOwnAccessor(v8::Local<v8::Context> context, v8::Local<v8::Object> object, v8::Local<v8::Name> key);

}  // namespace skerry::engine
