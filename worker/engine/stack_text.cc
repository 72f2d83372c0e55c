#include "worker/engine/stack_text.h"

#include <v8-container.h>
#include <v8-exception.h>
#include <v8-function.h>
#include <v8-isolate.h>

#include <string_view>

#include "worker/engine/intrinsics.h"
#include "worker/engine/job_run.h"
#include "worker/engine/safe_read.h"
#include "worker/engine/v8_text.h"

namespace skerry::engine {
namespace {

// Function names and sourceURLs are the program's; ten frames of them must stay readable.
constexpr std::size_t kMaxFrameTextBytes = 256;

/// The name of a frame's script as a person should see it. Code made by eval or Function has none of its own,
/// and its native description ("eval at f (...)") would speak in the wrapper's coordinates.
std::string ScriptName(v8::Isolate* isolate, v8::Local<v8::StackFrame> frame) {
  const v8::Local<v8::String> name = frame->GetScriptNameOrSourceURL();
  if (!name.IsEmpty() && name->Length() > 0) return ToUtf8Prefix(isolate, name, kMaxFrameTextBytes).text;
  return frame->IsEval() ? "<eval>" : "<anonymous>";
}

std::string FrameText(v8::Isolate* isolate, v8::Local<v8::StackFrame> frame, const ProgramSource& source) {
  const bool own = frame->GetScriptId() == source.script_id;
  const int line = frame->GetLineNumber();
  const int column = frame->GetColumn();
  std::string place = own ? std::string(kProgramName) : ScriptName(isolate, frame);
  if (own) {
    const SourcePosition position = source.ToUser(line, column);
    place += ":" + std::to_string(position.line) + ":" + std::to_string(position.column);
  } else if (line > 0) {
    place += ":" + std::to_string(line) + ":" + std::to_string(column);
  }
  std::string function;
  const v8::Local<v8::String> name = frame->GetFunctionName();
  if (!name.IsEmpty()) function = ToUtf8Prefix(isolate, name, kMaxFrameTextBytes).text;
  // The body of a job of mode function is a dynamic function, which V8 calls `eval`.
  if (own && source.header_lines > 0 && function == "eval") function.clear();
  std::string text = "\n    at ";
  if (frame->IsConstructor()) text += "new ";
  return text + (function.empty() ? place : function + " (" + place + ")");
}

/// What the program set as Error.prepareStackTrace, read as V8 natively does.
v8::MaybeLocal<v8::Function> UsersFormatter(v8::Local<v8::Context> context,
                                            v8::Local<v8::Object> error_constructor) {
  v8::Local<v8::Value> formatter;
  if (!error_constructor->Get(context, Literal(v8::Isolate::GetCurrent(), "prepareStackTrace"))
           .ToLocal(&formatter) ||
      !formatter->IsFunction()) {
    return {};
  }
  return formatter.As<v8::Function>();
}

/// The first line of a stack: Error.prototype.toString of the error, as V8 natively has it.
std::string StackHeadline(v8::Local<v8::Context> context, const Intrinsics& intrinsics,
                          v8::Local<v8::Value> error) {
  v8::Isolate* const isolate = v8::Isolate::GetCurrent();
  v8::TryCatch caught(isolate);
  v8::Local<v8::Value> text;
  if (intrinsics.error_to_string.Get(isolate)->Call(context, error, 0, nullptr).ToLocal(&text) &&
      text->IsString()) {
    return ToUtf8(isolate, text.As<v8::String>());
  }
  return "<error>";
}

}  // namespace

std::string FramesText(v8::Isolate* isolate, v8::Local<v8::StackTrace> trace, const ProgramSource& source) {
  std::string text;
  for (int i = 0; i < trace->GetFrameCount(); ++i) {
    v8::HandleScope scope(isolate);
    text += FrameText(isolate, trace->GetFrame(isolate, static_cast<std::uint32_t>(i)), source);
  }
  return text;
}

SourcePosition FirstOwnFrame(v8::Isolate* isolate, v8::Local<v8::StackTrace> trace,
                             const ProgramSource& source) {
  for (int i = 0; i < trace->GetFrameCount(); ++i) {
    v8::HandleScope scope(isolate);
    const auto frame = trace->GetFrame(isolate, static_cast<std::uint32_t>(i));
    if (frame->GetScriptId() == source.script_id) {
      return source.ToUser(frame->GetLineNumber(), frame->GetColumn());
    }
  }
  return {};
}

v8::MaybeLocal<v8::Value> PrepareStackTrace(v8::Local<v8::Context> context, v8::Local<v8::Value> error,
                                            v8::Local<v8::Array> sites) {
  v8::Isolate* const isolate = v8::Isolate::GetCurrent();
  const JobRun* const job = JobRun::Current(isolate);
  if (job == nullptr) return Literal(isolate, "");
  const Intrinsics& intrinsics = job->intrinsics();
  const v8::Local<v8::Object> error_constructor = intrinsics.error.Get(isolate);
  v8::Local<v8::Function> formatter;
  {
    v8::TryCatch caught(isolate);
    if (!UsersFormatter(context, error_constructor).ToLocal(&formatter) && caught.HasCaught()) {
      caught.ReThrow();
      return {};
    }
  }
  if (!formatter.IsEmpty()) {
    v8::Local<v8::Value> arguments[] = {error, sites};
    return formatter->Call(context, error_constructor, 2, arguments);
  }
  std::string text = StackHeadline(context, intrinsics, error);
  const v8::Local<v8::StackTrace> trace =
      error->IsObject() ? v8::Exception::GetStackTrace(error) : v8::Local<v8::StackTrace>();
  if (!trace.IsEmpty()) text += FramesText(isolate, trace, job->source());
  v8::Local<v8::String> result;
  if (!FromUtf8(isolate, text).ToLocal(&result)) return {};
  return result;
}

}  // namespace skerry::engine
