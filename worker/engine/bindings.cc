#include "worker/engine/bindings.h"

#include <v8-exception.h>
#include <v8-function-callback.h>
#include <v8-function.h>
#include <v8-isolate.h>
#include <v8-object.h>

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "worker/engine/inspect.h"
#include "worker/engine/job_run.h"
#include "worker/engine/json_text.h"
#include "worker/engine/v8_text.h"

namespace skerry::engine {
namespace {

using Info = v8::FunctionCallbackInfo<v8::Value>;

std::vector<v8::Local<v8::Value>> ArgumentsFrom(const Info& info, int first) {
  std::vector<v8::Local<v8::Value>> arguments;
  for (int i = first; i < info.Length(); ++i) arguments.push_back(info[i]);
  return arguments;
}

/// console.log, info, debug, warn, error: the level is the function's data.
void ConsoleWrite(const Info& info) {
  v8::Isolate* const isolate = info.GetIsolate();
  JobRun* const job = JobRun::Current(isolate);
  if (job == nullptr || !job->events().AdmitConsole()) return;
  const auto level = static_cast<Level>(info.Data().As<v8::Int32>()->Value());
  const TextPrefix text = FormatConsole(isolate->GetCurrentContext(), ArgumentsFrom(info, 0), job->source(),
                                        job->events().max_event_bytes());
  job->events().SendConsole(level, text.text, text.whole);
}

void ConsoleAssert(const Info& info) {
  v8::Isolate* const isolate = info.GetIsolate();
  JobRun* const job = JobRun::Current(isolate);
  if (job == nullptr || info[0]->BooleanValue(isolate) || !job->events().AdmitConsole()) return;
  std::string text = "Assertion failed";
  bool whole = true;
  if (info.Length() > 1) {
    TextPrefix rest = FormatConsole(isolate->GetCurrentContext(), ArgumentsFrom(info, 1), job->source(),
                                    job->events().max_event_bytes());
    whole = rest.whole;
    text += ": " + rest.text;
  }
  job->events().SendConsole(Level::kAssert, text, whole);
}

void ReportStatus(const Info& info) {
  v8::Isolate* const isolate = info.GetIsolate();
  JobRun* const job = JobRun::Current(isolate);
  if (job == nullptr || !job->events().AdmitStatus()) return;
  const std::optional<std::string> text = ToJsonText(isolate->GetCurrentContext(), info[0]);
  if (!text) return;  // what the conversion threw is the program's to catch
  // Its toJSON may have reported on its own meanwhile.
  if (job->events().AdmitStatus()) job->events().SendStatus(*text);
}

void DataProxyRequest(const Info& info) {
  v8::Isolate* const isolate = info.GetIsolate();
  JobRun* const job = JobRun::Current(isolate);
  if (job == nullptr) return;
  v8::Local<v8::Promise> promise;
  if (job->calls().Request(isolate->GetCurrentContext(), info[0], info[1]).ToLocal(&promise)) {
    info.GetReturnValue().Set(promise);
  }
}

/// A frozen native function that is no constructor and has no prototype.
v8::MaybeLocal<v8::Function> MakeFunction(v8::Local<v8::Context> context, std::string_view name,
                                          v8::FunctionCallback callback, int length, int data = 0) {
  v8::Isolate* const isolate = v8::Isolate::GetCurrent();
  v8::Local<v8::Function> function;
  if (!v8::Function::New(context, callback, v8::Integer::New(isolate, data), length,
                         v8::ConstructorBehavior::kThrow)
           .ToLocal(&function)) {
    return {};
  }
  function->SetName(Literal(isolate, name));
  if (!function->SetIntegrityLevel(context, v8::IntegrityLevel::kFrozen).FromMaybe(false)) return {};
  return function;
}

bool AddMethod(v8::Local<v8::Context> context, v8::Local<v8::Object> object, std::string_view name,
               v8::FunctionCallback callback, int length, int data = 0) {
  v8::Local<v8::Function> function;
  return MakeFunction(context, name, callback, length, data).ToLocal(&function) &&
         object->CreateDataProperty(context, Literal(v8::Isolate::GetCurrent(), name), function)
             .FromMaybe(false);
}

bool AddFrozenGlobal(v8::Local<v8::Context> context, std::string_view name, v8::Local<v8::Object> object) {
  if (!object->SetIntegrityLevel(context, v8::IntegrityLevel::kFrozen).FromMaybe(false)) return false;
  DefineGlobal(context, name, object);
  return true;
}

bool InstallConsole(v8::Local<v8::Context> context) {
  const v8::Local<v8::Object> console = v8::Object::New(v8::Isolate::GetCurrent());
  for (const Level level : {Level::kLog, Level::kInfo, Level::kDebug, Level::kWarn, Level::kError}) {
    if (!AddMethod(context, console, NameOf(level), ConsoleWrite, 0, static_cast<int>(level))) return false;
  }
  return AddMethod(context, console, NameOf(Level::kAssert), ConsoleAssert, 0) &&
         AddFrozenGlobal(context, "console", console);
}

}  // namespace

void DefineGlobal(v8::Local<v8::Context> context, std::string_view name, v8::Local<v8::Value> value) {
  v8::Isolate* const isolate = v8::Isolate::GetCurrent();
  // Not enumerable, like every built-in; nothing can refuse a definition on a fresh global.
  std::ignore = context->Global()->DefineOwnProperty(context, Literal(isolate, name), value, v8::DontEnum);
}

Status InstallBindings(v8::Local<v8::Context> context) {
  v8::Isolate* const isolate = v8::Isolate::GetCurrent();
  v8::HandleScope scope(isolate);
  const v8::Local<v8::Object> proxy = v8::Object::New(isolate);
  v8::Local<v8::Function> report;
  if (!InstallConsole(context) || !AddMethod(context, proxy, "request", DataProxyRequest, 2) ||
      !AddFrozenGlobal(context, "dataProxy", proxy) ||
      !MakeFunction(context, "reportStatus", ReportStatus, 1).ToLocal(&report)) {
    return Fail(ErrorKind::kInternal, "cannot install the engine's bindings");
  }
  DefineGlobal(context, "reportStatus", report);
  return {};
}

}  // namespace skerry::engine
