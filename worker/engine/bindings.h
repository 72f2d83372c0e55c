// What a program sees of us: `input`, `dataProxy`, `reportStatus`, `console`, and nothing else (DESIGN
// section 5).
//
// Threads: V8's. The bindings are frozen native functions; they find their job through the isolate.
#pragma once

#include <v8-context.h>
#include <v8-local-handle.h>
#include <v8-value.h>

#include <string_view>

#include "common/result.h"

namespace skerry::engine {

/// Slot of Isolate::GetData that holds the JobRun.
inline constexpr std::uint32_t kJobRunSlot = 0;

/// A global that scripts may shadow or replace, as they may any built-in.
void DefineGlobal(v8::Local<v8::Context> context, std::string_view name, v8::Local<v8::Value> value);

Status InstallBindings(v8::Local<v8::Context> context);

}  // namespace skerry::engine
