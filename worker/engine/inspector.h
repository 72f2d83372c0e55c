// The writer behind inspect.h: one text under construction, with its bounds.
//
// Threads: V8's. Ownership: lives for one console call.
#pragma once

#include <v8-context.h>
#include <v8-local-handle.h>
#include <v8-object.h>
#include <v8-value.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "worker/engine/program_source.h"

namespace skerry::engine {

class Inspector {
 public:
  Inspector(v8::Local<v8::Context> context, const ProgramSource& source, std::size_t max_bytes);

  void Text(std::string_view text);
  /// A string as it is, never cut but by the size of the whole.
  void Bare(v8::Local<v8::String> text);
  void Value(v8::Local<v8::Value> value);

  bool full() const { return full_; }
  std::string Take() { return std::move(out_); }

 private:
  /// Writes what stands between brackets, one item after another, up to kMaxItems.
  class List;

  void Quoted(v8::Local<v8::String> text, char quote);
  void Primitive(v8::Local<v8::Value> value);
  void BigInt(v8::Local<v8::BigInt> value);
  void Object(v8::Local<v8::Object> object);
  /// What is told by its kind alone, or has a text of its own. False: not such an object.
  bool Atom(v8::Local<v8::Object> object);
  bool Boxed(v8::Local<v8::Object> object);
  void Function(v8::Local<v8::Object> object);
  void Error(v8::Local<v8::Object> object);
  /// What is shown between brackets.
  void Compound(v8::Local<v8::Object> object);
  void Elements(v8::Local<v8::Object> object, std::size_t length, List* list);
  void Entries(v8::Local<v8::Array> entries, std::size_t stride, List* list);
  void Promise(v8::Local<v8::Object> object, List* list);
  void Properties(v8::Local<v8::Object> object, List* list);
  void Property(v8::Local<v8::Object> object, v8::Local<v8::Name> key);
  void Key(v8::Local<v8::Name> key);
  std::string ClassName(v8::Local<v8::Object> object);

  v8::Isolate* const isolate_;
  const v8::Local<v8::Context> context_;
  const ProgramSource& source_;
  const std::size_t max_bytes_;
  std::string out_;
  bool full_ = false;
  int items_left_;
  std::vector<v8::Local<v8::Object>> open_;  ///< objects being shown, outermost first
};

}  // namespace skerry::engine
